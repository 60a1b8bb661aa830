import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
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
import { finishUnbilled, releaseReservation, settleOnStore } from '../../../src/gate/settle.ts'
import { sweep } from '../../../src/gate/sweep.ts'
import { runAsAccount } from '../../../src/lib/account-context.ts'
import { HttpError } from '../../../src/lib/errors.ts'
import { mapSequential } from '../../../src/lib/map-sequential.ts'
import type { Store } from '../../../src/store/database.ts'
import { openStore } from '../../../src/store/open-store.ts'
import type { Tx } from '../../../src/store/tx.ts'
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
  /** Runs calls of one project in order, or all at the same time. @returns what each gets. */
  readonly runTogether: (
    calls: readonly RandomCall[],
    now: Now,
    order: 'sequential' | 'concurrent',
  ) => Promise<readonly unknown[]>
  /** The number of calls that the single statement admitted. */
  readonly singleStatementCount: () => number
  /** The number of settlements by the single statement. */
  readonly singleSettlementCount: () => number
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
  const { store: opened, remove } = await openCopy(snapshot)
  let singleSettlementCount = 0
  const countSettlement = (): void => void singleSettlementCount++
  const store =
    kind === 'stepwise' ? stepwiseStore(opened) : countSettlements(opened, countSettlement)
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
    runTogether: (calls, now, order) =>
      runAsAccount(snapshot.accountId, async () => {
        const map = order === 'sequential' ? mapSequential : mapConcurrent
        const admitted = await map([...calls.entries()], async ([index, call]) => {
          const context = { nowMs: now.nowMs, token: `token-${index}` }
          const request = admitRequestOf(snapshot, call, context)
          if ('fingerprint' in request.parsed) {
            const { hash, responseKey } = request.parsed.fingerprint
            responseKeys.set(hash.toString('hex'), responseKey)
          }
          const decision = await admitInSingleStatement(store, request, { ...settings, ...now })
          if (decision) singleStatementCount++
          return { call, decision }
        })
        const ends = await map(admitted, async ({ call, decision }) =>
          decision ? endCall(store, decision.reservation, call, now) : undefined,
        )
        return [admitted.map(({ decision }) => decision && observableDecision(decision)), ends]
      }),
    singleStatementCount: () => singleStatementCount,
    singleSettlementCount: () => singleSettlementCount,
    [Symbol.asyncDispose]: async () => {
      await opened.close()
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

function countSettlements(store: Store, count: () => void): Store {
  const { settleInOneStatement } = store
  return {
    ...store,
    ...(settleInOneStatement && {
      settleInOneStatement: (settlement) => {
        count()
        return settleInOneStatement(settlement)
      },
    }),
    write: (job) =>
      store.write((tx) =>
        job({
          ...tx,
          settleInOneStatement: (settlement) => {
            count()
            return Promise.resolve(tx.settleInOneStatement?.(settlement))
          },
        }),
      ),
  }
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
  if (isSwept) await store.write((tx) => sweep(tx, now, logMsMax))
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
    return await settleOnStore(store, reservation, executed, { nowMs, outboxMax: 1 })
  } catch (error) {
    return error instanceof HttpError && error.status === 503 ? 'expired' : 'fault'
  }
}
