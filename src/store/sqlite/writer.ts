import type { DatabaseSync } from 'node:sqlite'
import { unavailable } from '../../lib/errors.ts'
import type { CommitHook, RunWrite } from '../database.ts'
import type { Database } from '../schema.ts'
import type { Tx } from '../tx.ts'
import type { PendingCounts } from './pending-counts.ts'

export type WriterOptions = {
  readonly db: Database
  /** The connection of `db`. */
  readonly connection: DatabaseSync
  readonly tx: Tx
  /** Calls that are counted together before the commit. */
  readonly pending: PendingCounts
  readonly onCommit?: CommitHook | undefined
}

type QueuedWrite = {
  readonly run: (tx: Tx) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** More jobs than the permitted connections can send; further calls fail with 503. */
const queuedWritesMax = 20_000

/**
 * Returns a writer with group commit: all jobs that arrive in one turn of the event loop share a
 * transaction and one fsync. Each job has its own savepoint, so that a job that throws rolls back
 * only its own writes. If the commit fails, no job is written and all of them reject with 503.
 */
export function createWriter(writerOptions: WriterOptions): RunWrite {
  const options = { ...writerOptions, savepoint: prepareSavepoint(writerOptions.connection) }
  let waiting: QueuedWrite[] = []
  return (run) => {
    // The jobs of one queue have different result types, so `resolve` takes an unknown value.
    const done = Promise.withResolvers<unknown>()
    if (waiting.length >= queuedWritesMax)
      throw unavailable('Too many calls wait for the database.')
    waiting.push({ run, resolve: done.resolve, reject: done.reject })
    if (waiting.length === 1) setImmediate(flush)
    return done.promise as Promise<Awaited<ReturnType<typeof run>>>
  }

  /** Waits until kysely's transactions leave the connection, then runs all jobs. */
  function flush(): void {
    let jobs: QueuedWrite[] = []
    options.db
      .connection()
      .execute(async () => {
        jobs = waiting
        waiting = []
        await commit(jobs, options)
      })
      .catch((cause: unknown) => {
        const error = unavailable('The database does not respond.', 1, cause)
        const failed = jobs.length > 0 ? jobs : waiting.splice(0)
        for (const { reject } of failed) reject(error)
      })
  }
}

type CommitOptions = WriterOptions & {
  readonly savepoint: { readonly begin: () => void; readonly release: () => void }
}

/** Prepares the statements that surround each job. */
function prepareSavepoint(connection: DatabaseSync): CommitOptions['savepoint'] {
  const begin = connection.prepare('SAVEPOINT job')
  const release = connection.prepare('RELEASE job')
  return { begin: () => void begin.run(), release: () => void release.run() }
}

/**
 * Commits the jobs together. They await only this connection, which works synchronously, so no other
 * work runs between BEGIN and COMMIT.
 *
 * @throws Error if nothing was committed.
 */
async function commit(jobs: readonly QueuedWrite[], options: CommitOptions): Promise<void> {
  const { connection, pending, onCommit } = options
  connection.exec('BEGIN IMMEDIATE')
  const settleFunctions: (() => void)[] = []
  try {
    for (const job of jobs) settleFunctions.push(await runJob(job, options))
    pending.flush()
    onCommit?.('commit')
    connection.exec('COMMIT')
  } catch (error) {
    pending.reset()
    if (connection.isTransaction) connection.exec('ROLLBACK')
    throw error
  }
  onCommit?.('committed')
  for (const settle of settleFunctions) settle()
}

/** @returns the function that settles the job's promise after the commit. */
async function runJob(
  job: QueuedWrite,
  { connection, tx, pending, savepoint }: CommitOptions,
): Promise<() => void> {
  const position = pending.position()
  savepoint.begin()
  try {
    const value = await job.run(tx)
    savepoint.release()
    return () => job.resolve(value)
  } catch (error) {
    if (!connection.isTransaction || isFatal(error)) throw error
    pending.rewind(position)
    connection.exec('ROLLBACK TO job; RELEASE job')
    return () => job.reject(error)
  }
}

/** Returns whether the database itself fails, for example on a full disk: then nothing is committed. */
function isFatal(error: unknown): boolean {
  const isSqlite = error instanceof Error && 'errcode' in error
  return isSqlite && fatalCodes.has(Number(error.errcode) & 0xff)
}

/** SQLITE_BUSY, SQLITE_IOERR, SQLITE_CORRUPT and SQLITE_FULL: the low byte of extended codes. */
const fatalCodes = new Set([5, 10, 11, 13])
