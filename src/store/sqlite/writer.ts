import type { DatabaseSync } from 'node:sqlite'
import { findScopedAccount } from '../../lib/account-context.ts'
import { databaseUnavailable } from '../../lib/database-unavailable.ts'
import { unavailable } from '../../lib/errors.ts'
import type { ExclusiveTransaction, Store, Tx } from '../database.ts'
import type { AdmittedTerms } from '../gate/admission-rule.ts'
import type { Database } from '../schema.ts'
import type { CallBatch, CallJob, CallJobResult } from './calls/call-batch.ts'
import type { PendingCounts } from './hourly-counts.ts'
import type { DurableTransaction } from './connection.ts'

export type WriterOptions = {
  readonly db: Database
  /** The connection of `db`. */
  readonly connection: DatabaseSync
  readonly tx: Tx
  /** Calls that are counted together before the commit. */
  readonly pending: PendingCounts
  readonly callBatch: CallBatch
  readonly transaction: DurableTransaction
}

type Settle = {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

type QueuedWrite = Settle & {
  readonly run: (change: ExclusiveTransaction) => unknown
  readonly accountId: string | undefined
}
type QueuedCall = Settle & { readonly job: CallJob }
type Queue = { readonly writes: QueuedWrite[]; readonly calls: QueuedCall[] }
const emptyQueue = (): Queue => ({ writes: [], calls: [] })
type Postpone = (writes: readonly QueuedWrite[]) => void

/** The calls that are admitted and settled by one commit are one batch. */
export type Writer = Pick<Store, 'write' | 'runExclusive' | 'admitCall' | 'settleCall'>

/** More jobs than the permitted connections can send; further calls fail with 503. */
const queuedWritesMax = 20_000

/** Jobs or reads that began this long ago leave the event loop free before the next one. */
export const turnMsMax = 10

/**
 * Returns a writer with group commit: the jobs that arrive in one turn of the event loop share a
 * transaction and one fsync. Jobs that share one have a savepoint each, so that a job that throws rolls
 * back only its own writes. If the commit fails, no job is written and all of them reject with 503.
 */
export function createWriter(options: WriterOptions): Writer {
  let waiting = emptyQueue()
  const enqueue = (add: (settle: Settle) => void): Promise<unknown> => {
    const done = Promise.withResolvers<unknown>()
    const { writes, calls } = waiting
    const count = writes.length + calls.length
    if (count >= queuedWritesMax) throw unavailable('Too many calls wait for the database.')
    add({ resolve: done.resolve, reject: done.reject })
    if (count === 0) setImmediate(flush)
    return done.promise
  }
  const postpone: Postpone = (writes) => {
    if (writes.length > 0 && waiting.writes.length + waiting.calls.length === 0) setImmediate(flush)
    waiting.writes.unshift(...writes)
  }
  const runCall = (job: CallJob): Promise<unknown> =>
    enqueue(({ resolve, reject }) => waiting.calls.push({ job, resolve, reject }))
  // The jobs of one queue have different result types, so `resolve` takes an unknown value.
  const runWrite = <T>(
    run: (change: ExclusiveTransaction) => Promise<T> | T,
    accountId = findScopedAccount(),
  ) => enqueue((settle) => waiting.writes.push({ run, accountId, ...settle })) as Promise<T>
  return {
    write: (run) => runWrite(({ tx }) => run(tx)),
    runExclusive: runWrite,
    admitCall: (input) => runCall({ kind: 'admit', input }) as Promise<AdmittedTerms | undefined>,
    settleCall: (input) => runCall({ kind: 'settle', input }) as Promise<boolean>,
  }

  /** Waits until kysely's queries leave the connection, then runs all jobs. */
  function flush(): void {
    let jobs = emptyQueue()
    const take = (): Queue => {
      const { writes, calls } = waiting
      waiting = emptyQueue()
      return { writes: inTurns(writes), calls }
    }
    options.db
      .connection()
      .execute(async (db) => {
        jobs = take()
        await commit(jobs, { ...options, db }, postpone)
      })
      .catch((cause: unknown) => {
        const error = databaseUnavailable(cause, failureOf(cause))
        const { writes, calls } = jobs.writes.length + jobs.calls.length > 0 ? jobs : take()
        for (const { reject } of [...writes, ...calls]) reject(error)
      })
  }
}

/** Orders writes so that accounts take turns. Those of one account stay in their order. */
function inTurns(writes: readonly QueuedWrite[]): QueuedWrite[] {
  const lists = [...Map.groupBy(writes, ({ accountId }) => accountId).values()]
  const ranked = lists.flatMap((list) => list.map((write, round) => ({ write, round })))
  return ranked.toSorted((a, b) => a.round - b.round).map(({ write }) => write)
}

/**
 * Commits the jobs together. They await only this connection, which works synchronously, so no other
 * work runs between BEGIN and COMMIT, unless an operator's change awaits it. While the disk writes the
 * transaction, other requests are read and other jobs arrive, but kysely's queries and the next commit
 * wait.
 *
 * An admitted call continues before its admission is on the disk: its settlement is committed later,
 * and its response waits until both are on the disk. A power failure in between ends the call like a
 * killed process, except that the reservation is not there to be released.
 *
 * @throws Error if nothing was committed, or the disk failed.
 */
async function commit(queue: Queue, options: WriterOptions, postpone: Postpone): Promise<void> {
  const { writes, results } = await commitJobs(queue, options, postpone)
  const isAwaited = writes.length > 0 || queue.calls.some(({ job }) => job.kind === 'settle')
  if (isAwaited) {
    settleCalls('admit', queue.calls, results)
    await options.transaction.synchronize()
  }
  settleCalls(isAwaited ? 'settle' : 'admit', queue.calls, results)
  for (const settle of writes) settle()
}

async function commitJobs({ writes, calls }: Queue, options: WriterOptions, postpone: Postpone) {
  const { pending, callBatch, transaction } = options
  const committed: (() => void)[] = []
  try {
    transaction.begin()
    const endMs = performance.now() + turnMsMax
    const results = calls.length > 0 ? callBatch.run(calls.map(({ job }) => job)) : []
    const isOnly = writes.length + calls.length === 1
    for (const [index, job] of writes.entries()) {
      committed.push(await runJob(job, isOnly, options))
      if (performance.now() > endMs) postpone(writes.splice(index + 1))
    }
    pending.flush()
    transaction.commit()
    return {
      /** For each job of `write`, the function that settles its promise. */
      writes: committed,
      /** The results of the calls, in their order. */
      results,
    }
  } catch (error) {
    pending.reset()
    transaction.rollback()
    throw error
  }
}

function settleCalls(
  kind: CallJob['kind'],
  calls: readonly QueuedCall[],
  results: readonly CallJobResult[],
): void {
  for (const [index, { job, resolve, reject }] of calls.entries()) {
    if (job.kind !== kind) continue
    const result = results[index]
    if (result && 'error' in result) reject(result.error)
    else resolve(result?.value)
  }
}

/**
 * @param isOnly whether the transaction has no other job. It then needs no savepoint, whose pages SQLite
 *   keeps in a list that it reads from the start after each further statement.
 * @returns the function that settles the job's promise after the commit.
 */
async function runJob(job: QueuedWrite, isOnly: boolean, options: WriterOptions) {
  const { db, tx, connection, transaction, pending } = options
  const position = pending.position()
  if (!isOnly) connection.exec('SAVEPOINT job')
  try {
    const value = await job.run({ db, tx })
    if (!isOnly) connection.exec('RELEASE job')
    return () => job.resolve(value)
  } catch (error) {
    if (!connection.isTransaction || isFatal(error)) throw error
    pending.rewind(position)
    if (isOnly) {
      transaction.rollback()
      transaction.begin()
    } else connection.exec('ROLLBACK TO job; RELEASE job')
    return () => job.reject(error)
  }
}

/** @throws HttpError 503 if the database itself fails, otherwise the error. */
export function throwUnavailable(error: unknown): never {
  throw isFatal(error) ? databaseUnavailable(error, failureOf(error)) : error
}

/** Returns whether the database itself fails, for example on a full disk: then nothing is committed. */
export function isFatal(error: unknown): boolean {
  return fatalCodes.has(primaryCodeOf(error))
}

/** `fdatasync` fails with ENOSPC if the file system has not reserved the space before. */
function failureOf(error: unknown) {
  const isSynchronization = error instanceof Error && 'code' in error && error.code === 'ENOSPC'
  if (isSynchronization || primaryCodeOf(error) === fullCode) return 'full disk'
  return primaryCodeOf(error) === damageCode ? 'damage' : 'other'
}

/** Returns the low byte of an extended code of SQLite; NaN for another error. */
function primaryCodeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : NaN
}

/** SQLITE_FULL */
const fullCode = 13
/** SQLITE_CORRUPT */
const damageCode = 11
/** SQLITE_BUSY, SQLITE_IOERR, SQLITE_CORRUPT and SQLITE_FULL. */
const fatalCodes = new Set([5, 10, damageCode, fullCode])
