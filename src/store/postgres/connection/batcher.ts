import { callCommitHook, type TransactionOptions } from './transaction.ts'
import type { ConnectionPool, PostgresQuery, PostgresResult, PostgresSession } from './pool.ts'

/** Runs a statement. Statements that arrive under a name while one is running share a transaction. */
export type RunBatched = (name: string, query: PostgresQuery) => Promise<PostgresResult>

type CommitHooks = Pick<TransactionOptions, 'onCommit'>

type BatchedQuery = {
  readonly query: PostgresQuery
  readonly resolve: (result: PostgresResult) => void
  readonly reject: (error: unknown) => void
}

/** The maximum number of statements in one transaction. Later ones wait for it, so it is small. */
const batchMax = 32

/**
 * Returns a function that batches statements. Calls of one project all change the same few rows, and
 * each transaction locks them until its commit is on the disk. Statements that wait for them in this
 * process therefore share one commit. A statement without others waiting runs in its own
 * transaction immediately.
 */
export function createBatcher(pool: ConnectionPool, hooks: CommitHooks): RunBatched {
  const waiting = new Map<string, BatchedQuery[]>()
  return (name, query) =>
    new Promise<PostgresResult>((resolve, reject) => {
      const job = { query, resolve, reject }
      const queue = waiting.get(name)
      if (queue) {
        queue.push(job)
      } else {
        waiting.set(name, [])
        void runQueue(name, [job])
      }
    })

  async function runQueue(name: string, first: readonly BatchedQuery[]): Promise<void> {
    for (let jobs = first; jobs.length > 0; jobs = waiting.get(name)?.splice(0, batchMax) ?? [])
      await runBatch(pool, jobs, hooks)
    waiting.delete(name)
  }
}

/** Runs the jobs and settles all of them. If a joint transaction fails, each job runs on its own. */
async function runBatch(
  pool: ConnectionPool,
  jobs: readonly BatchedQuery[],
  hooks: CommitHooks,
): Promise<void> {
  const isDone =
    jobs.length > 1 &&
    (await pool
      .withSession((session) => runInOneTransaction(session, jobs, hooks))
      .catch(() => false))
  if (isDone) return
  for (const { query, resolve, reject } of jobs)
    await pool.withSession((session) => runSingly(session, query, hooks)).then(resolve, reject)
}

async function runSingly(
  session: PostgresSession,
  query: PostgresQuery,
  hooks: CommitHooks,
): Promise<PostgresResult> {
  callCommitHook(hooks, 'commit')
  const result = await (session.isDirect ? session.run(query) : runWithTimeout(session, query))
  callCommitHook(hooks, 'committed')
  return result
}

/** Runs a statement in a separate transaction that sets the timeout, in one round trip. */
async function runWithTimeout(
  session: PostgresSession,
  query: PostgresQuery,
): Promise<PostgresResult> {
  const sent = [
    session.run({ text: beginText(session) }),
    session.run(query),
    session.run({ text: 'commit' }),
  ] as const
  const [begin, result, end] = await Promise.allSettled(sent)
  // The error of the statement explains why the commit failed.
  for (const outcome of [begin, result, end])
    if (outcome.status === 'rejected') throw outcome.reason
  return sent[1]
}

function beginText({ isDirect, statementTimeoutMs }: PostgresSession): string {
  const begin = 'begin isolation level read committed'
  return isDirect ? begin : `${begin}; set local statement_timeout = ${statementTimeoutMs}`
}

/** Sends all statements without waiting. @returns false if one failed, so that nothing happened. */
async function runInOneTransaction(
  session: PostgresSession,
  jobs: readonly BatchedQuery[],
  hooks: CommitHooks,
): Promise<boolean> {
  callCommitHook(hooks, 'commit')
  const sent = [
    session.run({ text: beginText(session) }),
    ...jobs.map(({ query }) => session.run(query)),
    session.run({ text: 'commit' }),
  ]
  const results = await Promise.allSettled(sent)
  const failure = results.find((result) => result.status === 'rejected')
  if (session.isLost() && failure) {
    // It is unknown whether the commit happened: reject all jobs, so that none runs twice.
    for (const { reject } of jobs) reject(failure.reason)
    return true
  }
  const [end] = results.slice(-1)
  if (failure || end?.status !== 'fulfilled' || end.value.command !== 'COMMIT') return false
  callCommitHook(hooks, 'committed')
  for (const [index, { resolve }] of jobs.entries()) {
    const result = results[index + 1]
    if (result?.status === 'fulfilled') resolve(result.value)
  }
  return true
}
