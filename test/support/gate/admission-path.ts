import { allocate } from '../../../src/billing/ledger.ts'
import { admitInSingleStatement } from '../../../src/gate/admission/admit-single-statement.ts'
import {
  admitInTransaction,
  type AdmitRequest,
  type AdmitTransactionResult,
} from '../../../src/gate/admission/admit-transaction.ts'
import type { Now } from '../../../src/gate/admission/find-replay.ts'
import { decryptResponse } from '../../../src/gate/fingerprint.ts'
import type { Reservation } from '../../../src/gate/incoming-call.ts'
import { errorCodeOf } from '../../../src/gate/log-call.ts'
import { finishUnbilled, releaseReservation, settle } from '../../../src/gate/settle.ts'
import { sweep } from '../../../src/gate/sweep.ts'
import { runAsAccount } from '../../../src/lib/account-context.ts'
import { HttpError } from '../../../src/lib/errors.ts'
import type { Store } from '../../../src/store/database.ts'
import { openStoreAt } from '../database/engine.ts'
import { sharedPostgresServer } from '../database/postgres-server.ts'
import { admitRequestOf, type AdmissionSnapshot } from './admission-snapshot.ts'
import { readGateTables, type GateTables } from './gate-tables.ts'
import { completedCallOf, type RandomCall } from './random-call.ts'
import { stepwiseStore } from './stepwise-store.ts'

/** A database in which calls are admitted and settled in one of the two ways. */
export type AdmissionPath = AsyncDisposable & {
  /** Runs one call. @returns everything that its caller can observe. */
  readonly run: (call: RandomCall, context: AdmissionPathContext) => Promise<readonly unknown[]>
  readonly readTables: () => Promise<GateTables>
  /** The number of calls that the single statement admitted. */
  readonly singleStatementCount: () => number
}

export type AdmissionPathContext = { readonly now: Now; readonly token: string }

const settings = {
  limits: { sustainedPerS: 5, burst: 4 },
  unitMicros: 1000n,
  attemptMsMax: 30_000,
}
const logMsMax = 100_000

export async function openAdmissionPath(
  snapshot: AdmissionSnapshot,
  kind: 'singleStatement' | 'stepwise',
): Promise<AdmissionPath> {
  const server = await sharedPostgresServer()
  const database = await server.createDatabase({ template: snapshot.database })
  const opened = await openStoreAt(database.url)
  const store = kind === 'stepwise' ? stepwiseStore(opened) : opened
  const reservations: Reservation[] = []
  const responseKeys = new Map<string, Buffer>()
  let singleStatementCount = 0
  return {
    run: (call, { now, token }) =>
      runAsAccount(snapshot.accountId, async () => {
        await runOtherWork(store, snapshot, call, now)
        const request = admitRequestOf(snapshot, call, { nowMs: now.nowMs, token })
        if ('fingerprint' in request.parsed) {
          const { hash, responseKey } = request.parsed.fingerprint
          responseKeys.set(hash.toString('hex'), responseKey)
        }
        const single = await admitInSingleStatement(store, request, { ...settings, ...now })
        if (single) singleStatementCount++
        const decision = single ?? (await admitStepwise(store, request, now))
        const results = [observableDecision(decision)]
        if (decision.kind === 'admitted') {
          reservations.push(decision.reservation)
          results.push(await endCall(store, decision.reservation, call, now))
        }
        const late = reservations[call.lateSettlement]
        if (late) results.push(await endCall(store, late, { ...call, ending: 'ok' }, now))
        return results
      }),
    readTables: () => readGateTables(opened, responseKeys),
    singleStatementCount: () => singleStatementCount,
    [Symbol.asyncDispose]: async () => {
      await opened.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** Sweeps and moves money, as the service and its console do between calls. */
async function runOtherWork(
  store: Store,
  { projects: [project] }: AdmissionSnapshot,
  { isSwept, allocatedMicros }: RandomCall,
  now: Now,
): Promise<void> {
  if (isSwept) await store.write((tx) => sweep(tx, now, logMsMax))
  if (allocatedMicros === 0) return
  await store
    .write((tx) => allocate(tx, project, BigInt(allocatedMicros), now.nowMs))
    .catch(() => undefined)
}

function admitStepwise(
  store: Store,
  request: AdmitRequest,
  now: Now,
): Promise<AdmitTransactionResult> {
  return store.write((tx) => admitInTransaction(tx, request, { ...settings, now: () => now }))
}

function observableDecision(decision: AdmitTransactionResult): unknown {
  if (decision.kind === 'admitted') {
    const { call: _, priceMicros, ...reservation } = decision.reservation
    const pricesMicros = [priceMicros(0), priceMicros(1)]
    return { ...decision, reservation: { ...reservation, pricesMicros } }
  }
  if (decision.kind === 'rejected')
    return { ...decision, error: [errorCodeOf(decision.error), String(decision.error)] }
  if (decision.kind !== 'replay') return decision
  const response = decryptResponse(decision.fingerprint.responseKey, decision.response)
  return { ...decision, response }
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
  if (ending === 'release') return store.write((tx) => releaseReservation(tx, reservation, fault))
  if (ending === 'finish') return store.write((tx) => finishUnbilled(tx, reservation))
  const { accountId } = reservation.call.caller
  const executed = completedCallOf(reservation, call, accountId)
  try {
    const response = await store.write((tx) =>
      settle(tx, reservation, executed, { nowMs, outboxMax: 1 }),
    )
    return response ?? 'expired'
  } catch (error) {
    // The single statement reports an expired reservation by an error, the transaction by undefined.
    return error instanceof HttpError && error.status === 503 ? 'expired' : 'fault'
  }
}
