import type { DatabaseSync } from 'node:sqlite'
import { unavailable } from '../../lib/errors.ts'
import type { Database } from '../database.ts'
import type { PendingCounts } from './pending-counts.ts'

/** Runs a job in the next group commit; resolves when its writes are on the disk. */
export type RunWrite<Tx> = <T>(job: (tx: Tx) => Promise<T> | T) => Promise<T>

export type WriterOptions<Tx> = {
  readonly db: Database
  /** The connection that `db` writes by. */
  readonly connection: DatabaseSync
  readonly tx: Tx
  /** What jobs leave to be counted together, before the commit. */
  readonly pending: PendingCounts
  /** Told before each commit and after it, so that tests can fail there. */
  readonly onCommit?: ((step: 'commit' | 'committed') => void) | undefined
}

type QueuedWrite<Tx> = {
  readonly run: (tx: Tx) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** More jobs than connections can ask for; beyond it calls are answered 503. */
const queuedWritesMax = 20_000

/**
 * Group commit: jobs that arrive in one turn of the event loop share a transaction and one fsync.
 * Each has a savepoint of its own, so that a job that throws takes only its own writes back. When
 * the commit fails, nobody's writes happened and every caller is told 503: no database, no call.
 */
export function createWriter<Tx>(options: WriterOptions<Tx>): RunWrite<Tx> {
  let waiting: QueuedWrite<Tx>[] = []
  return (run) => {
    // `resolve` gets what `run` returned: the types of the jobs in one queue differ.
    const done = Promise.withResolvers<unknown>()
    if (waiting.length >= queuedWritesMax)
      throw unavailable('Too many calls wait for the database.')
    waiting.push({ run, resolve: done.resolve, reject: done.reject })
    if (waiting.length === 1) setImmediate(flush)
    return done.promise as Promise<Awaited<ReturnType<typeof run>>>
  }

  /** Waits for kysely's own transactions on the connection, then works through in one go. */
  function flush(): void {
    let jobs: QueuedWrite<Tx>[] = []
    options.db
      .connection()
      .execute(async () => {
        jobs = waiting
        waiting = []
        await commit(jobs, options)
      })
      .catch((cause: unknown) => {
        const error = unavailable('The database does not answer.', 1, cause)
        const failed = jobs.length > 0 ? jobs : waiting.splice(0)
        for (const { reject } of failed) reject(error)
      })
  }
}

/**
 * Jobs wait for nothing but this connection, which answers without a turn of the event loop: no
 * other work comes between BEGIN and COMMIT.
 *
 * @throws Error when nothing could be committed.
 */
async function commit<Tx>(
  jobs: readonly QueuedWrite<Tx>[],
  options: WriterOptions<Tx>,
): Promise<void> {
  const { connection, pending, onCommit: atCommit } = options
  connection.exec('BEGIN IMMEDIATE')
  const answers: (() => void)[] = []
  try {
    for (const job of jobs) answers.push(await runJob(job, options))
    pending.flush()
    atCommit?.('commit')
    connection.exec('COMMIT')
  } catch (error) {
    pending.reset()
    if (connection.isTransaction) connection.exec('ROLLBACK')
    throw error
  }
  atCommit?.('committed')
  for (const answer of answers) answer()
}

/** @returns how to answer once the commit has happened. */
async function runJob<Tx>(
  job: QueuedWrite<Tx>,
  { connection, tx, pending }: WriterOptions<Tx>,
): Promise<() => void> {
  const mark = pending.position()
  connection.exec('SAVEPOINT job')
  try {
    const value = await job.run(tx)
    connection.exec('RELEASE job')
    return () => job.resolve(value)
  } catch (error) {
    if (!connection.isTransaction || isFatal(error)) throw error
    pending.rewind(mark)
    connection.exec('ROLLBACK TO job; RELEASE job')
    return () => job.reject(error)
  }
}

/** Whether the database itself fails, a full disk for example: then nothing may be committed. */
function isFatal(error: unknown): boolean {
  const isSqlite = error instanceof Error && 'errcode' in error
  return isSqlite && fatalCodes.has(Number(error.errcode) & 0xff)
}

/** SQLITE_BUSY, SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_FULL; the low byte of an extended code. */
const fatalCodes = new Set([5, 10, 11, 13])
