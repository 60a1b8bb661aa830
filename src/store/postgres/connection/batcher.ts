import { callCommitHook, type TransactionOptions } from './transaction.ts'
import type { ConnectionPool, PostgresQuery, PostgresResult, PostgresSession } from './pool.ts'

/** Runs a statement; those of one name that come while one is at work share the next transaction. */
export type RunBatched = (name: string, query: PostgresQuery) => Promise<PostgresResult>

type CommitHooks = Pick<TransactionOptions, 'onCommit'>

type BatchedQuery = {
  readonly query: PostgresQuery
  readonly resolve: (result: PostgresResult) => void
  readonly reject: (error: unknown) => void
}

/** Statements of one transaction: the others wait no longer for it than for a busy neighbour. */
const batchMax = 32

/**
 * Calls of one project all change the same few rows, and each would hold them until its commit is on
 * the disk. So what waits for them in this process is done together: one commit for all of it. A
 * statement that nobody stands before is a transaction of its own and waits for nobody.
 */
export function createBatcher(pool: ConnectionPool, hooks: CommitHooks): RunBatched {
  const lines = new Map<string, BatchedQuery[]>()
  return (name, query) =>
    new Promise<PostgresResult>((resolve, reject) => {
      const job = { query, resolve, reject }
      const line = lines.get(name)
      if (line) {
        line.push(job)
      } else {
        lines.set(name, [])
        void work(name, [job])
      }
    })

  async function work(name: string, first: readonly BatchedQuery[]): Promise<void> {
    for (let jobs = first; jobs.length > 0; jobs = lines.get(name)?.splice(0, batchMax) ?? [])
      await runBatch(pool, jobs, hooks)
    lines.delete(name)
  }
}

/** Answers every job, whatever happens. */
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
    await pool.withSession((session) => runAlone(session, query, hooks)).then(resolve, reject)
}

async function runAlone(
  session: PostgresSession,
  query: PostgresQuery,
  hooks: CommitHooks,
): Promise<PostgresResult> {
  callCommitHook(hooks, 'commit')
  const result = await session.run(query)
  callCommitHook(hooks, 'committed')
  return result
}

/** Sends all of it at once. @returns false when one failed, and so nothing happened. */
async function runInOneTransaction(
  session: PostgresSession,
  jobs: readonly BatchedQuery[],
  hooks: CommitHooks,
): Promise<boolean> {
  callCommitHook(hooks, 'commit')
  const sent = [
    session.run({ text: 'begin isolation level read committed' }),
    ...jobs.map(({ query }) => session.run(query)),
    session.run({ text: 'commit' }),
  ]
  const results = await Promise.allSettled(sent)
  const lost = results.find((result) => result.status === 'rejected')
  if (session.isLost() && lost) {
    // Nobody knows: whoever asked is told so, and nothing is done twice.
    for (const { reject } of jobs) reject(lost.reason)
    return true
  }
  const [end] = results.slice(-1)
  if (lost || end?.status !== 'fulfilled' || end.value.command !== 'COMMIT') return false
  callCommitHook(hooks, 'committed')
  for (const [at, { resolve }] of jobs.entries()) {
    const result = results[at + 1]
    if (result?.status === 'fulfilled') resolve(result.value)
  }
  return true
}
