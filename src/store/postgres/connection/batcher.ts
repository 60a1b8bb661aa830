import type { ConnectionPool, PostgresQuery, PostgresResult, PostgresSession } from './pool.ts'
import { statementName } from './kysely-driver.ts'

/**
 * A statement for a list of inputs, in their order. Its only parameter is a JSON list; each element is
 * an input with its `index`. Each row has the `index` of its input; an input has at most one row.
 */
export type ListStatement<Row> = {
  readonly text: string
  /** @returns the row of each input. */
  readonly readRows: (result: PostgresResult, count: number) => readonly (Row | undefined)[]
}

/** Runs an input of a statement. Inputs that arrive under a name while one runs share a statement. */
export type RunBatched = <Row>(
  name: string,
  statement: ListStatement<Row>,
  input: object,
) => Promise<Row | undefined>

type BatchedInput = {
  /** The input as JSON. */
  readonly text: string
  readonly resolve: (row: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The maximum number of inputs in one statement. Later ones wait for it, so it is small. */
const batchMax = 32
/** Characters after which a statement takes no further input: large responses block the event loop. */
const batchCharsMax = 1024 ** 2

/** The caller declares the type of the rows, next to the SQL that defines it. */
export function listStatement<Row>(text: string): ListStatement<Row> {
  return {
    text,
    readRows: ({ rows }, count) => {
      const rowsByIndex: (Row | undefined)[] = Array.from({ length: count })
      for (const row of rows) rowsByIndex[Number(row['index'])] = row as Row
      return rowsByIndex
    },
  }
}

/** Returns the query for a list of inputs, which are JSON objects with at least one member. */
export function listQuery(
  { text }: ListStatement<unknown>,
  inputs: readonly string[],
): PostgresQuery {
  const elements = inputs.map((input, index) => `{"index":${index},${input.slice(1)}`)
  return { text, name: statementName(text), values: [`[${elements.join()}]`] }
}

/** Returns bytes in a JSON input, as PostgreSQL reads them. */
export function hexText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return String.raw`\x${Buffer.from(buffer, byteOffset, byteLength).toString('hex')}`
}

/**
 * Returns a function that batches inputs. Calls of one project all change the same few rows, and each
 * transaction locks them until its commit is on the disk. Inputs that wait for them in this process
 * therefore share one statement, one round trip and one commit. An input without others waiting runs
 * immediately.
 */
export function createBatcher(pool: ConnectionPool): RunBatched {
  const waiting = new Map<string, BatchedInput[]>()
  return <Row>(name: string, statement: ListStatement<Row>, input: object) => {
    // The inputs of one name have one statement.
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>()
    const text = JSON.stringify(input)
    const job = { text, resolve: resolve as BatchedInput['resolve'], reject }
    const queue = waiting.get(name)
    if (queue) {
      queue.push(job)
    } else {
      waiting.set(name, [])
      void runQueue(name, statement, [job])
    }
    return promise
  }

  async function runQueue(
    name: string,
    statement: ListStatement<unknown>,
    first: readonly BatchedInput[],
  ): Promise<void> {
    for (let jobs = first; jobs.length > 0; jobs = takeBatch(waiting.get(name) ?? []))
      await runBatch(pool, { statement, jobs })
    waiting.delete(name)
  }
}

/** Removes the first jobs, as many as one statement processes. */
function takeBatch(queue: BatchedInput[]): readonly BatchedInput[] {
  let chars = 0
  const end = queue.findIndex(({ text }, index) => {
    chars += text.length
    return index > 0 && (index === batchMax || chars > batchCharsMax)
  })
  return queue.splice(0, end < 0 ? queue.length : end)
}

type Batch = {
  readonly statement: ListStatement<unknown>
  readonly jobs: readonly BatchedInput[]
}

/** Runs the jobs and settles all of them. If a joint statement fails, each job runs on its own. */
async function runBatch(pool: ConnectionPool, batch: Batch): Promise<void> {
  const { jobs } = batch
  try {
    const rows = await pool.withSession((session) => runTogether(session, batch))
    for (const [index, { resolve }] of jobs.entries()) resolve(rows[index])
  } catch (error) {
    // After a lost connection it is unknown whether the commit happened: no job may run twice.
    if (jobs.length > 1 && !(error instanceof LostBatch))
      for (const job of jobs) await runBatch(pool, { ...batch, jobs: [job] })
    else for (const { reject } of jobs) reject(error instanceof LostBatch ? error.cause : error)
  }
}

/** The connection was lost while a statement ran. Its cause is the error of the driver. */
class LostBatch extends Error {}

/** Runs the jobs by one statement in its own transaction. @returns their rows. */
async function runTogether(session: PostgresSession, { statement, jobs }: Batch) {
  const query = listQuery(
    statement,
    jobs.map(({ text }) => text),
  )
  const result = await (
    session.isDirect ? session.run(query) : runWithTimeout(session, query)
  ).catch((cause: unknown) => {
    throw session.isLost() ? new LostBatch('', { cause }) : cause
  })
  return statement.readRows(result, jobs.length)
}

/** Runs a statement in a separate transaction that sets the timeout, in one round trip. */
async function runWithTimeout(session: PostgresSession, query: PostgresQuery) {
  const begin = `begin isolation level read committed; set local statement_timeout = ${session.statementTimeoutMs}`
  const sent = [
    session.run({ text: begin }),
    session.run(query),
    session.run({ text: 'commit' }),
  ] as const
  const outcomes = await Promise.allSettled(sent)
  // The error of the statement explains why the commit failed.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return sent[1]
}
