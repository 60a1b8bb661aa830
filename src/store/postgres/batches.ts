import { tell, type TransactionOptions } from './transaction.ts'
import type { Pool, Query, Result, Session } from './pool.ts'

/** Runs a statement; those of one name that come while one is at work share the next transaction. */
export type Batches = (name: string, query: Query) => Promise<Result>

type Hooks = Pick<TransactionOptions, 'atCommit'>

type Job = {
  readonly query: Query
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** Statements of one transaction: the others wait no longer for it than for a busy neighbour. */
const batchMax = 32

/**
 * Calls of one project all change the same few rows, and each would hold them until its commit is on
 * the disk. So what waits for them in this process is done together: one commit for all of it. A
 * statement that nobody stands before is a transaction of its own and waits for nobody.
 */
export function createBatches(pool: Pool, hooks: Hooks): Batches {
  const lines = new Map<string, Job[]>()
  return (name, query) =>
    new Promise<Result>((resolve, reject) => {
      const job = { query, resolve, reject }
      const line = lines.get(name)
      if (line) {
        line.push(job)
      } else {
        lines.set(name, [])
        void work(name, [job])
      }
    })

  async function work(name: string, first: readonly Job[]): Promise<void> {
    for (let jobs = first; jobs.length > 0; jobs = lines.get(name)?.splice(0, batchMax) ?? [])
      await runAll(pool, jobs, hooks)
    lines.delete(name)
  }
}

/** Answers every job, whatever happens. */
async function runAll(pool: Pool, jobs: readonly Job[], hooks: Hooks): Promise<void> {
  const isDone =
    jobs.length > 1 &&
    (await pool.lend((session) => runTogether(session, jobs, hooks)).catch(() => false))
  if (isDone) return
  for (const { query, resolve, reject } of jobs)
    await pool.lend((session) => runAlone(session, query, hooks)).then(resolve, reject)
}

async function runAlone(session: Session, query: Query, hooks: Hooks): Promise<Result> {
  tell(hooks, 'commit')
  const result = await session.run(query)
  tell(hooks, 'committed')
  return result
}

/** Sends all of it at once. @returns false when one failed, and so nothing happened. */
async function runTogether(session: Session, jobs: readonly Job[], hooks: Hooks): Promise<boolean> {
  tell(hooks, 'commit')
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
  tell(hooks, 'committed')
  for (const [at, { resolve }] of jobs.entries()) {
    const result = results[at + 1]
    if (result?.status === 'fulfilled') resolve(result.value)
  }
  return true
}
