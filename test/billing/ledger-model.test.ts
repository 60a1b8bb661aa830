import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allocate, LedgerError, topUp } from '../../src/billing/ledger.ts'
import type { Reservation } from '../../src/gate/incoming-call.ts'
import {
  admitInTransaction,
  type AdmitTransactionResult,
} from '../../src/gate/admission/admit-transaction.ts'
import { fingerprintOf } from '../../src/gate/fingerprint.ts'
import { releaseReservation, settle } from '../../src/gate/settle.ts'
import { expireLeftover, sweep } from '../../src/gate/sweep.ts'
import { HttpError } from '../../src/lib/errors.ts'
import { newId } from '../../src/lib/ids.ts'
import { defaultSwitches } from '../../src/store/tenancy/switches.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import {
  ledgerCommands,
  replayWindowMs,
  type LedgerCommand,
} from '../support/billing/ledger-commands.ts'
import {
  createLedgerSnapshot,
  openLedger,
  type TestLedger,
  type LedgerSnapshot,
} from '../support/billing/test-ledger.ts'

const priceMicros = 1000n
const attemptMs = 30_000
const runs = Number(process.env['LEDGER_RUNS'] ?? (isOnPostgres() ? 15 : 2000))

/** What the books should say, in plain numbers. */
type LedgerModel = {
  nowMs: number
  wallet: bigint
  budget: bigint
  charged: bigint
  /** The one live attempt at each request, by number. */
  readonly running: Map<number, { token: string; content: number; dueMs: number }>
  readonly done: Map<number, { content: number; sinceMs: number; code: string }>
}

type ModelTestState = {
  readonly ledger: TestLedger
  readonly template: LedgerSnapshot
  readonly attempts: Reservation[]
}

test('whatever happens in whatever order, the books say what a plain model says', async () => {
  const template = await createLedgerSnapshot()
  await fc.assert(
    fc.asyncProperty(
      fc.array(ledgerCommands, { minLength: 50, maxLength: 50 }),
      async (commands) => {
        await using ledger = await openLedger(template)
        const world: ModelTestState = { ledger, template, attempts: [] }
        const model = freshModel()
        const check = createChecker(ledger)
        await applyCommand({ does: 'topUp', micros: 9000n, ending: 'commit' }, world, model)
        await applyCommand({ does: 'allocate', micros: 4000n, ending: 'commit' }, world, model)
        for (const command of commands) {
          await applyCommand(command, world, model)
          await check(model)
        }
        await applyCommand({ does: 'sweep', ending: 'commit' }, world, model)
        assert.deepEqual(
          (await ledger.audit(model.nowMs)).filter(({ ok }) => !ok),
          [],
        )
      },
    ),
    // On a server a run takes too long for a shorter counterexample to be looked for.
    { numRuns: runs, endOnFailure: isOnPostgres() },
  )
})

function freshModel(): LedgerModel {
  const nowMs = Date.UTC(2030, 0, 1)
  return { nowMs, wallet: 0n, budget: 0n, charged: 0n, running: new Map(), done: new Map() }
}

async function applyCommand(
  command: LedgerCommand,
  world: ModelTestState,
  model: LedgerModel,
): Promise<void> {
  const { runTransaction: job } = world.ledger
  const isKept = command.ending === 'commit'
  switch (command.does) {
    case 'topUp':
      return applyTopUp(command, world, model)
    case 'allocate':
      return applyAllocate(command, world, model)
    case 'claim':
      return applyAdmit(command, world, model)
    case 'settle':
      return applySettle(command, world, model)
    case 'release': {
      const attempt = world.attempts[command.attempt % Math.max(1, world.attempts.length)]
      if (!attempt) return
      await job((tx) => releaseReservation(tx, attempt, new Error('fault')), command.ending)
      if (isKept) removeRunning(model, attempt)
      return
    }
    case 'wait':
      model.nowMs += command.ms
      return
    case 'sweep':
      await job((tx) => sweep(tx, nowOf(model), 1e12), command.ending)
      if (!isKept) return
      for (const [request, { dueMs }] of model.running)
        if (dueMs < model.nowMs) model.running.delete(request)
      for (const [request, { sinceMs }] of model.done)
        if (sinceMs + replayWindowMs <= model.nowMs) model.done.delete(request)
      return
    case 'restart':
      await job((tx) => expireLeftover(tx, nowOf(model), true), command.ending)
      if (isKept) model.running.clear()
  }
}

async function applyTopUp(
  { micros, ending }: LedgerCommand & { micros: bigint },
  world: ModelTestState,
  model: LedgerModel,
) {
  const { ledger, template } = world
  const pay = () =>
    ledger.runTransaction(
      (tx) => topUp(tx, template.project.accountId, micros, model.nowMs),
      ending,
    )
  if (micros <= 0n) return assert.rejects(pay, LedgerError)
  await pay()
  if (ending === 'commit') model.wallet += micros
}

async function applyAllocate(
  { micros, ending }: LedgerCommand & { micros: bigint },
  world: ModelTestState,
  model: LedgerModel,
) {
  const { ledger, template } = world
  const move = () =>
    ledger.runTransaction((tx) => allocate(tx, template.project, micros, model.nowMs), ending)
  const free = micros > 0n ? model.wallet : model.budget - priceMicros * BigInt(model.running.size)
  const wanted = micros < 0n ? -micros : micros
  if (micros === 0n || wanted > free) return assert.rejects(move, LedgerError)
  await move()
  if (ending !== 'commit') return
  model.wallet -= micros
  model.budget += micros
}

async function applyAdmit(
  { request, content, ending }: LedgerCommand & { request: number; content: number },
  world: ModelTestState,
  model: LedgerModel,
): Promise<void> {
  const answer = await world.ledger.runTransaction(
    (tx) =>
      admitInTransaction(tx, incomingCallOf(world, model, { request, content }), optionsOf(model)),
    ending,
  )
  const due = model.running.get(request)
  const isRunning = due !== undefined && due.dueMs >= model.nowMs
  const old = model.done.get(request)
  const isDone = old !== undefined && old.sinceMs + replayWindowMs > model.nowMs
  const earlier = isRunning ? due : isDone ? old : undefined
  const reserved = BigInt(model.running.size - (due && !isRunning ? 1 : 0)) * priceMicros
  const expected = !earlier
    ? model.budget - reserved >= priceMicros
      ? 'admitted'
      : 'PAYMENT_REQUIRED'
    : earlier.content !== content
      ? 'REQUEST_ID_CONFLICT'
      : isRunning
        ? 'inFlight'
        : 'replay'
  assert.equal(resultKindOf(answer), expected)
  if (ending === 'crash') return
  if (due && !isRunning) model.running.delete(request)
  if (old && !isDone) model.done.delete(request)
  if (answer.kind !== 'admitted') return
  world.attempts.push(answer.reservation)
  const dueMs = model.nowMs + attemptMs
  model.running.set(request, { token: answer.reservation.token, content, dueMs })
}

async function applySettle(
  { attempt: nth, ok, ending }: LedgerCommand & { attempt: number; ok: boolean },
  world: ModelTestState,
  model: LedgerModel,
): Promise<void> {
  const attempt = world.attempts[nth % Math.max(1, world.attempts.length)]
  if (!attempt) return
  const answer = ok
    ? { ok, errors: [], data: { results: [{ ok }] } }
    : { ok, errors: [{ code: 'NO_FACE_FOUND' }], data: null }
  const completed = { output: { outcome: answer }, toSettlement: () => ({ response: answer }) }
  const settled = await world.ledger
    .runTransaction((tx) => settle(tx, attempt, completed, model.nowMs), ending)
    .catch(undefinedIfUnavailable)
  const request = Number(attempt.requestId)
  const own = model.running.get(request)
  // Only the owner of the one live attempt may settle: nobody can twice, or after a retry.
  assert.equal(settled !== undefined, own?.token === attempt.token)
  if (ending === 'crash' || own?.token !== attempt.token) return
  model.running.delete(request)
  const code = ok ? 'OK' : 'NO_FACE_FOUND'
  model.done.set(request, { content: own.content, sinceMs: attempt.windowStartMs, code })
  if (!ok) return
  model.budget -= priceMicros
  model.charged += priceMicros
}

/** Where the end of a call is one statement, a lost attempt is told by an error. */
function undefinedIfUnavailable(error: unknown): undefined {
  if (!(error instanceof HttpError && error.status === 503)) throw error
}

function removeRunning(model: LedgerModel, { requestId, token }: Reservation): void {
  const request = Number(requestId)
  if (model.running.get(request)?.token === token) model.running.delete(request)
}

type ModelRequest = { readonly request: number; readonly content: number }

function incomingCallOf(
  { template }: ModelTestState,
  model: LedgerModel,
  { request, content }: ModelRequest,
) {
  const { projectId, accountId } = template.project
  const requestId = String(request)
  const ids = { projectId, accountId, galleryId: projectId }
  const known = { permissions: ['*'], switches: defaultSwitches, state: 'active' } as const
  const caller = { ...template, ...ids, ...known }
  const params = { content }
  const scope = { projectId, requestId, action: 'svc.echo', params, debug: false }
  return {
    call: {
      requestId,
      action: 'svc.echo',
      startMs: performance.now(),
      atMs: model.nowMs,
      caller,
    },
    parsed: {
      action: { price: () => 1 },
      params,
      debug: false,
      permissions: ['svc.echo'],
      fingerprint: fingerprintOf(scope),
    },
    consumedTokens: undefined,
    token: newId(),
  }
}

function nowOf({ nowMs }: LedgerModel) {
  return { nowMs, steadyUs: nowMs * 1000, windowMs: replayWindowMs }
}

function optionsOf(model: LedgerModel) {
  const limits = { sustainedPerS: 10_000, burst: 100_000 }
  return { now: () => nowOf(model), limits, unitMicros: priceMicros, attemptMsMax: attemptMs }
}

function resultKindOf(answer: AdmitTransactionResult): string {
  if (answer.kind !== 'rejected') return answer.kind
  return answer.error instanceof Error && 'code' in answer.error
    ? String(answer.error.code)
    : 'fault'
}

/** Holds the database against the model, in one look: L1, L3, L4 and L5 of every step. */
function createChecker({ query: look }: TestLedger): (model: LedgerModel) => Promise<void> {
  const question = `
    select
      (select "balanceMicros" from ledgers where ledger like 'wallet:%') as wallet,
      (select "balanceMicros" from ledgers where ledger like 'budget:%') as budget,
      (select "reservedMicros" from ledgers where ledger like 'budget:%') as reserved,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings" where ledger like 'wallet:%') as posted,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings" where ledger like 'budget:%') as spent,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings" where ledger like 'revenue:%') as revenue,
      (select coalesce(sum("amountMicros"), 0) from "ledgerPostings") as total,
      (select coalesce(sum("costMicros"), 0) from calls) as billed,
      (select coalesce(sum("reservedMicros"), 0) from attempts) as held,
      (select count(*) from "ledgerTransfers") as transfers,
      (select sum("headSeq") from ledgers) as links`
  return async (model) => {
    const [seen = {}] = await look(question)
    const held = priceMicros * BigInt(model.running.size)
    assert.equal(seen['wallet'], model.wallet)
    assert.equal(seen['posted'], model.wallet)
    assert.equal(seen['budget'], model.budget)
    assert.equal(seen['spent'], model.budget)
    assert.equal(seen['reserved'], held)
    assert.equal(seen['held'], held)
    assert.equal(seen['revenue'], model.charged)
    assert.equal(seen['billed'], model.charged)
    assert.equal(seen['total'], 0n)
    assert.equal(seen['transfers'], seen['links'])
  }
}
