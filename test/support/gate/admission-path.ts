import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { allocate } from '../../../src/billing/ledger.ts'
import {
  accessRequestOf,
  admissionInputOf,
  reservationOf,
  type AdmitRequest,
} from '../../../src/gate/admission/admit-request.ts'
import {
  admitInTransaction,
  rejectInTransaction,
  type AdmissionResult,
} from '../../../src/gate/admission/admit-transaction.ts'
import type { Now } from '../../../src/store/gate/admission-facts.ts'
import type { AdmittedTerms } from '../../../src/store/gate/admission-rule.ts'
import { decryptResponse } from '../../../src/gate/request-fingerprint.ts'
import type { Reservation } from '../../../src/gate/call-states.ts'
import { errorCodeOf } from '../../../src/gate/log-call.ts'
import { type CallOutcome, outcomeOfError } from '../../../src/gate/log-call.ts'
import { finishUnbilled, settle } from '../../../src/gate/settle.ts'
import { sweep } from '../../../src/gate/sweep.ts'
import { runAsAccount } from '../../../src/lib/account-context.ts'
import { HttpError } from '../../../src/lib/errors.ts'
import type { Store, Tx } from '../../../src/store/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { openStoreAt } from '../database/engine.ts'
import { sharedPostgresServer } from '../database/postgres-server.ts'
import { admitRequestOf, readErrors, type AdmissionSnapshot } from './admission-snapshot.ts'
import { readGateTables, type GateTables } from './gate-tables.ts'
import { completedCallOf, type RandomCall } from './random-call.ts'

/** A database in which calls are admitted in one of the two ways. */
export type AdmissionPath = AsyncDisposable & {
  /** Runs one call. @returns everything that its caller can observe. */
  readonly run: (call: RandomCall, context: AdmissionPathContext) => Promise<readonly unknown[]>
  readonly readTables: () => Promise<GateTables>
  /** Runs calls of one project in order, or all at the same time. @returns what each gets. */
  readonly runTogether: (
    calls: readonly RandomCall[],
    now: Now,
    order: 'sequential' | 'concurrent',
  ) => Promise<readonly unknown[]>
  /** The number of calls that `admitCall` of the store admitted. */
  readonly directCount: () => number
}

export type AdmissionPathContext = { readonly now: Now; readonly token: string }

const settings = {
  limits: { sustainedPerS: 5, burst: 4 },
  unitMicros: 1000n,
  attemptMsMax: 30_000,
  windowMs: 20_000,
}
const logMsMax = 100_000

export async function openAdmissionPath(
  snapshot: AdmissionSnapshot,
  kind: 'direct' | 'transactions',
): Promise<AdmissionPath> {
  const { store, remove } = await openCopy(snapshot)
  const reservations: Reservation[] = []
  const responseKeys = new Map<string, Buffer>()
  let directCount = 0
  const requestOf = (call: RandomCall, { now, token }: AdmissionPathContext): AdmitRequest => {
    const request = admitRequestOf(snapshot, call, { nowMs: now.nowMs, token })
    const { hash, responseKey } = request.fingerprint
    responseKeys.set(hash.toString('hex'), responseKey)
    return request
  }
  const admitDirectly = async (request: AdmitRequest, now: Now) => {
    const terms = await store.admitCall(admissionInputOf(request, settings, now))
    if (terms) directCount++
    return terms
  }
  const admit = async (request: AdmitRequest, call: RandomCall, now: Now) => {
    const error = readErrors[call.parseError]
    if (error) return rejectCall(store, request, error, now)
    const terms = kind === 'direct' ? await admitDirectly(request, now) : undefined
    return terms ? { kind: 'admitted' as const, ...terms } : admitStepwise(store, request, now)
  }
  return {
    run: (call, context) =>
      runAsAccount(snapshot.accountId, async () => {
        const { now } = context
        await runOtherWork(store, snapshot, call, now)
        const request = requestOf(call, context)
        const decision = await admit(request, call, now)
        const results = [observableDecision(request, decision)]
        if (decision.kind === 'admitted') {
          const reservation = reservationOf(request, decision)
          reservations.push(reservation)
          results.push(await endCall(store, reservation, call, now))
        }
        const late = reservations[call.lateSettlement]
        if (late) results.push(await endCall(store, late, { ...call, ending: 'ok' }, now))
        return results
      }),
    readTables: () => readGateTables(store, responseKeys),
    runTogether: (calls, now, order) =>
      runAsAccount(snapshot.accountId, async () => {
        const map = order === 'sequential' ? mapSequential : mapConcurrent
        const admitted = await map([...calls.entries()], async ([index, call]) => {
          const request = requestOf(call, { now, token: `token-${index}` })
          const terms = await admitDirectly(request, now)
          return terms && { call, terms, reservation: reservationOf(request, terms) }
        })
        const ends = await map(admitted, async (found) =>
          found ? endCall(store, found.reservation, found.call, now) : undefined,
        )
        return [admitted.map((found) => found && observableTerms(found)), ends]
      }),
    directCount: () => directCount,
    [Symbol.asyncDispose]: async () => {
      await store.close()
      await remove()
    },
  }
}

/** Opens a copy of the snapshot. */
async function openCopy({ engine, database }: AdmissionSnapshot) {
  if (engine === 'SQLite') {
    const folder = await mkdtemp(path.join(tmpdir(), 'facegate-admission-'))
    await cp(database, folder, { recursive: true })
    return { store: await openStore(folder), remove: () => rm(folder, { recursive: true }) }
  }
  const server = await sharedPostgresServer()
  const copy = await server.createDatabase({ template: database })
  return { store: await openStoreAt(copy.url), remove: () => copy[Symbol.asyncDispose]() }
}

function mapSequential<T, Result>(
  items: readonly T[],
  run: (item: T) => Promise<Result>,
): Promise<Result[]> {
  return Array.fromAsync(items, run)
}

function mapConcurrent<T, Result>(
  items: readonly T[],
  run: (item: T) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(items.map(run))
}

/** Sweeps, switches billing and moves money, as the service and its console do between calls. */
async function runOtherWork(
  store: Store,
  { projects: [project] }: AdmissionSnapshot,
  { isSwept, allocatedMicros, billing }: RandomCall,
  now: Now,
): Promise<void> {
  if (isSwept) await store.write((tx) => sweep(tx, now, { ...settings, logMsMax }))
  if (billing !== undefined)
    await store.write((tx) => tx.run(setBilling(tx, project.projectId, billing)))
  if (allocatedMicros === 0) return
  await store
    .write((tx) => allocate(tx, project, BigInt(allocatedMicros), now.nowMs))
    .catch(() => undefined)
}

function setBilling(tx: Tx, projectId: string, billing: boolean) {
  const update = tx.build.updateTable('projects').set({ billing: billing ? 1 : 0 })
  return update.where('projectId', '=', projectId)
}

function admitStepwise(store: Store, request: AdmitRequest, now: Now): Promise<AdmissionResult> {
  const input = admissionInputOf(request, settings, now)
  return store.write((tx) => admitInTransaction(tx, request.call, input, () => now))
}

function rejectCall(store: Store, { call, content }: AdmitRequest, error: unknown, now: Now) {
  // The permissions of a call are known only if it was read.
  const request = accessRequestOf(call, content.debug ? content.permissions : [], settings)
  return store.write((tx) => rejectInTransaction(tx, call, { error, request }, () => now))
}

type Decision = AdmissionResult | (AdmittedTerms & { readonly kind: 'admitted' })

function observableDecision(request: AdmitRequest, decision: Decision): unknown {
  if (decision.kind === 'admitted') {
    const reservation = reservationOf(request, decision)
    return { kind: decision.kind, ...observableTerms({ terms: decision, reservation }) }
  }
  if (decision.kind === 'rejected')
    return { ...decision, error: [errorCodeOf(decision.error), String(decision.error)] }
  if (decision.kind !== 'replay') return decision
  const response = decryptResponse(request.fingerprint.responseKey, decision.response)
  return { ...decision, response }
}

type ObservedTerms = { readonly terms: AdmittedTerms; readonly reservation: Reservation }

function observableTerms({ terms, reservation }: ObservedTerms): object {
  const { call: _, priceMicros, ...stored } = reservation
  // The headers of an admitted call do not contain when a rejected one may be retried.
  const { retryAfterS: _retry, ...tokens } = terms.access.tokens
  return { tokens, ...stored, pricesMicros: [priceMicros(0), priceMicros(1)] }
}

/** @returns the response, or how the end of the call failed. */
async function endCall(
  store: Store,
  reservation: Reservation,
  call: RandomCall,
  { nowMs }: Now,
): Promise<unknown> {
  const { ending } = call
  if (ending === 'open') return undefined
  const fault = new Error('fault')
  const finish = (outcome: CallOutcome) =>
    store.write((tx) => finishUnbilled(tx, reservation, outcome))
  if (ending === 'release') return finish(outcomeOfError(fault))
  if (ending === 'finish') return finish({ code: 'OK' })
  const { accountId } = reservation.call.caller
  const executed = completedCallOf(reservation, call, accountId)
  try {
    return await settle(store, reservation, executed, { nowMs, outboxMax: 1 })
  } catch (error) {
    return error instanceof HttpError && error.status === 503 ? 'expired' : 'fault'
  }
}
