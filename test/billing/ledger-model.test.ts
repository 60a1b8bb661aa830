import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { allocate, LedgerError, topUp } from '../../src/billing/ledger.ts'
import type { Reservation } from '../../src/gate/call-states.ts'
import {
  admissionInputOf,
  createAdmitRequest,
  reservationOf,
} from '../../src/gate/admission/admit-request.ts'
import {
  admitInTransaction,
  type AdmissionResult,
} from '../../src/gate/admission/admit-transaction.ts'
import { outcomeOfError } from '../../src/gate/log-call.ts'
import { finishUnbilled, settleInTransaction } from '../../src/gate/settle.ts'
import { expireLeftover, sweep } from '../../src/gate/sweep.ts'
import { HttpError } from '../../src/lib/errors.ts'
import type { Tx } from '../../src/store/database.ts'
import { defaultSwitches } from '../../src/store/tenancy/switches.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import {
  ledgerCommands,
  replayWindowMs,
  type LedgerCommand,
} from '../support/billing/ledger-commands.ts'
import {
  createChecker,
  createModel,
  priceMicros,
  type LedgerModel,
} from '../support/billing/ledger-model.ts'
import {
  createLedgerSnapshot,
  openLedger,
  type TestLedger,
  type LedgerSnapshot,
} from '../support/billing/test-ledger.ts'

const callMsMax = 30_000
const runs = Number(process.env['LEDGER_RUNS'] ?? (isOnPostgres() ? 15 : 2000))

type ModelTestState = {
  readonly ledger: TestLedger
  readonly template: LedgerSnapshot
  readonly reservations: Reservation[]
}

test('After any sequence of operations the ledger equals a simple model', async () => {
  const template = await createLedgerSnapshot()
  await fc.assert(
    fc.asyncProperty(
      fc.array(ledgerCommands, { minLength: 50, maxLength: 50 }),
      async (commands) => {
        await using ledger = await openLedger(template)
        const state: ModelTestState = { ledger, template, reservations: [] }
        const model = createModel()
        const check = createChecker(ledger)
        await applyCommand({ kind: 'topUp', micros: 9000n, outcome: 'commit' }, state, model)
        await applyCommand({ kind: 'allocate', micros: 4000n, outcome: 'commit' }, state, model)
        for (const command of commands) {
          await applyCommand(command, state, model)
          await check(model)
        }
        await applyCommand({ kind: 'sweep', outcome: 'commit' }, state, model)
        assert.deepEqual(
          (await ledger.audit(model.nowMs)).filter(({ ok }) => !ok),
          [],
        )
      },
    ),
    // On PostgreSQL a run takes too long to shrink counterexamples.
    { numRuns: runs, endOnFailure: isOnPostgres() },
  )
})

async function applyCommand(
  command: LedgerCommand,
  state: ModelTestState,
  model: LedgerModel,
): Promise<void> {
  const { runTransaction } = state.ledger
  const isCommitted = command.outcome === 'commit'
  switch (command.kind) {
    case 'topUp':
      return applyTopUp(command, state, model)
    case 'allocate':
      return applyAllocate(command, state, model)
    case 'admit':
      return applyAdmit(command, state, model)
    case 'settle':
      return applySettle(command, state, model)
    case 'release': {
      const reservation = selectReservation(state, command.reservation)
      if (!reservation) return
      const outcome = outcomeOfError(new Error('fault'))
      const release = (tx: Tx) => finishUnbilled(tx, reservation, outcome)
      await runTransaction(release, command.outcome)
      if (isCommitted) removeRunning(model, reservation)
      return
    }
    case 'wait':
      model.nowMs += command.ms
      return
    case 'sweep':
      await runTransaction((tx) => sweep(tx, nowOf(model), sweepLimits), command.outcome)
      if (!isCommitted) return
      for (const [request, { dueMs }] of model.running)
        if (dueMs < model.nowMs) model.running.delete(request)
      for (const [request, { sinceMs }] of model.done)
        if (sinceMs + replayWindowMs <= model.nowMs) model.done.delete(request)
      return
    case 'restart':
      await runTransaction((tx) => expireLeftover(tx, nowOf(model), true), command.outcome)
      if (isCommitted) model.running.clear()
  }
}

async function applyTopUp(
  { micros, outcome }: LedgerCommand & { micros: bigint },
  state: ModelTestState,
  model: LedgerModel,
) {
  const { ledger, template } = state
  const run = () =>
    ledger.runTransaction(
      (tx) => topUp(tx, template.project.accountId, micros, model.nowMs),
      outcome,
    )
  if (micros <= 0n) return assert.rejects(run, LedgerError)
  await run()
  if (outcome === 'commit') model.wallet += micros
}

async function applyAllocate(
  { micros, outcome }: LedgerCommand & { micros: bigint },
  state: ModelTestState,
  model: LedgerModel,
) {
  const { ledger, template } = state
  const run = () =>
    ledger.runTransaction((tx) => allocate(tx, template.project, micros, model.nowMs), outcome)
  const free = micros > 0n ? model.wallet : model.budget - priceMicros * BigInt(model.running.size)
  const amount = micros < 0n ? -micros : micros
  if (micros === 0n || amount > free) return assert.rejects(run, LedgerError)
  await run()
  if (outcome !== 'commit') return
  model.wallet -= micros
  model.budget += micros
}

async function applyAdmit(
  { request, content, outcome }: LedgerCommand & { request: number; content: number },
  state: ModelTestState,
  model: LedgerModel,
): Promise<void> {
  const call = admitRequestOf(state, model, { request, content })
  const now = nowOf(model)
  const input = admissionInputOf(call, settings, now)
  const result = await state.ledger.runTransaction(
    (tx) => admitInTransaction(tx, call.call, input, () => now),
    outcome,
  )
  const running = model.running.get(request)
  const isRunning = running !== undefined && running.dueMs >= model.nowMs
  const done = model.done.get(request)
  const isDone = done !== undefined && done.sinceMs + replayWindowMs > model.nowMs
  const earlier = isRunning ? running : isDone ? done : undefined
  const reserved = BigInt(model.running.size - (running && !isRunning ? 1 : 0)) * priceMicros
  const expected = !earlier
    ? model.budget - reserved >= priceMicros
      ? 'admitted'
      : 'PAYMENT_REQUIRED'
    : earlier.content !== content
      ? 'REQUEST_ID_CONFLICT'
      : isRunning
        ? 'inFlight'
        : 'replay'
  assert.equal(resultKindOf(result), expected)
  if (outcome === 'crash') return
  if (running && !isRunning) model.running.delete(request)
  if (done && !isDone) model.done.delete(request)
  if (result.kind !== 'admitted') return
  state.reservations.push(reservationOf(call, result))
  const dueMs = model.nowMs + callMsMax
  model.running.set(request, { token: call.token, content, dueMs })
}

async function applySettle(
  { reservation: index, ok, outcome }: LedgerCommand & { reservation: number; ok: boolean },
  state: ModelTestState,
  model: LedgerModel,
): Promise<void> {
  const reservation = selectReservation(state, index)
  if (!reservation) return
  const response = ok
    ? { ok, errors: [], data: { results: [{ ok }] } }
    : { ok, errors: [{ code: 'NO_FACE_FOUND', message: 'no face' }], data: null }
  const options = { nowMs: model.nowMs, outboxMax: 1 }
  const isSettled = await state.ledger
    .runTransaction((tx) => settleInTransaction(tx, reservation, { response }, options), outcome)
    .then(() => true, falseIfUnavailable)
  const request = Number(reservation.requestId)
  const running = model.running.get(request)
  // Only the reservation of the in-flight call can be settled: never twice, or after a retry.
  assert.equal(isSettled, running?.token === reservation.token)
  if (outcome === 'crash' || running?.token !== reservation.token) return
  model.running.delete(request)
  const code = ok ? 'OK' : 'NO_FACE_FOUND'
  model.done.set(request, { content: running.content, sinceMs: reservation.windowStartMs, code })
  if (!ok) return
  model.budget -= priceMicros
  model.charged += priceMicros
}

function selectReservation({ reservations }: ModelTestState, index: number) {
  return reservations[index % Math.max(1, reservations.length)]
}

/** A lost reservation causes an error, which rolls back the transaction. */
function falseIfUnavailable(error: unknown): false {
  if (error instanceof HttpError && error.status === 503) return false
  throw error
}

function removeRunning(model: LedgerModel, { requestId, token }: Reservation): void {
  const request = Number(requestId)
  if (model.running.get(request)?.token === token) model.running.delete(request)
}

type ModelRequest = { readonly request: number; readonly content: number }

function admitRequestOf(
  { template }: ModelTestState,
  model: LedgerModel,
  { request, content }: ModelRequest,
) {
  const { projectId, accountId } = template.project
  const requestId = String(request)
  const ids = { projectId, accountId, galleryId: projectId }
  const access = {
    permissions: ['*'],
    switches: defaultSwitches,
    matchWebhooks: 0,
    isFrozen: 0,
    state: 'active',
  } as const
  const caller = { ...template, ...ids, ...access }
  const params = { content }
  const action = { price: () => 1 }
  return createAdmitRequest(
    { requestId, action: 'svc.echo', startMs: performance.now(), atMs: model.nowMs, caller },
    { action, params, debug: false, permissions: ['svc.echo'] },
  )
}

function nowOf({ nowMs }: LedgerModel) {
  return { nowMs, steadyUs: nowMs * 1000 }
}

const settings = {
  limits: { sustainedPerS: 10_000, burst: 100_000 },
  unitMicros: priceMicros,
  attemptMsMax: callMsMax,
  windowMs: replayWindowMs,
}
const sweepLimits = { windowMs: replayWindowMs, logMsMax: 1e12 }

function resultKindOf(result: AdmissionResult): string {
  if (result.kind !== 'rejected') return result.kind
  return result.error instanceof Error && 'code' in result.error
    ? String(result.error.code)
    : 'fault'
}
