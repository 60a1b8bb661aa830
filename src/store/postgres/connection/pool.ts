import { Pool as Connections, type PoolClient, type QueryResult } from 'pg'
import type { Log } from '../../../lib/log.ts'
import { bindToCall } from '../../../lib/observability/call-trace.ts'
import { faultOf } from './fault.ts'
import { getTypeParser, readRows } from './values.ts'

/** A statement with its parameters in the order of `$1`, `$2`, … */
export type PostgresQuery = {
  readonly text: string
  readonly values?: readonly unknown[]
  /** Prepared once on each connection, under this name. */
  readonly name?: string | undefined
  /** Longest time, ms, where it is not that of the pool; 0: any. */
  readonly timeoutMs?: number | undefined
}

export type PostgresResult = {
  readonly rows: readonly Record<string, unknown>[]
  /** How many rows were changed, or read. */
  readonly count: number
  /** What was done, in a word: a COMMIT that was none says ROLLBACK here. */
  readonly command: string
}

/** A connection, for as long as it is lent. */
export type PostgresSession = {
  /** Statements are sent at once and answered in their order. */
  readonly run: (query: PostgresQuery) => Promise<PostgresResult>
  /** Whether the connection is gone, so that nobody knows what became of the last statement. */
  readonly isLost: () => boolean
}

export type ConnectionPool = {
  /** Takes a connection, to be given back. @throws HttpError 503 when there is none to be had. */
  readonly acquire: () => Promise<PooledSession>
  /** The same for one piece of work. */
  readonly withSession: <T>(work: (session: PostgresSession) => Promise<T>) => Promise<T>
  readonly counts: () => ConnectionCounts
  readonly close: () => Promise<void>
}

export type PooledSession = { readonly session: PostgresSession; readonly release: () => void }

/** Connections that are at work and those that are not, and jobs that wait for one. */
export type ConnectionCounts = {
  readonly busy: number
  readonly idle: number
  readonly waiting: number
}

export type ConnectionPoolOptions = {
  readonly connectionsMax: number
  /** Longest time of one statement; 0: any. */
  readonly statementTimeoutMs: number
  readonly log?: Pick<Log, 'warn'> | undefined
}

/** Longest wait for a connection, whether for one that is lent or for a new one. */
const connectTimeoutMs = 5000

/** The server gives a statement up by itself; who answers nothing at all is given up a little later. */
const responseMarginMs = 1000
const timeoutMsMax = 2 ** 31 - 1

export function openPool(url: string, options: ConnectionPoolOptions): ConnectionPool {
  const { connectionsMax, statementTimeoutMs: statementMsMax, log } = options
  const pool = new Connections({
    connectionString: url,
    fallback_application_name: 'facegate',
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementMsMax,
    query_timeout: queryTimeoutMs(statementMsMax),
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser },
  })
  // An idle connection that ends leaves the pool by itself; the next one to work is a new one.
  // The call that it was opened for has nothing to do with that.
  const onEnd = (error: Error) =>
    log?.warn({ reason: error.message }, 'a database connection ended')
  pool.on('error', bindToCall(onEnd))
  pool.on('connect', (client) => client.on('error', () => undefined))
  return {
    acquire: () => acquire(pool),
    withSession: async (work) => {
      const { session, release: giveBack } = await acquire(pool)
      return work(session).finally(giveBack)
    },
    counts: () => {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool
      return { busy: totalCount - idle, idle, waiting }
    },
    close: () => pool.end(),
  }
}

function queryTimeoutMs(statementMsMax: number): number {
  return statementMsMax === 0 ? timeoutMsMax : statementMsMax + responseMarginMs
}

async function acquire(pool: Connections): Promise<PooledSession> {
  const client = await pool.connect().catch((error: unknown) => {
    throw faultOf(error).error
  })
  let isSpoilt = false
  let isLost = false
  const session: PostgresSession = {
    run: async (query) => {
      const result = await send(client, query).catch((cause: unknown) => {
        const fault = faultOf(cause)
        isSpoilt ||= fault.isUnusable
        isLost ||= fault.isLost
        throw fault.error
      })
      return { rows: readRows(result), count: result.rowCount ?? 0, command: result.command }
    },
    isLost: () => isLost,
  }
  // Nobody is lent a connection on which a transaction is still open.
  const isFit = (): boolean => !isSpoilt && client.getTransactionStatus() === 'I'
  return { session, release: () => client.release(!isFit()) }
}

async function send(client: PoolClient, query: PostgresQuery): Promise<QueryResult> {
  const { text, name, values = [], timeoutMs: msMax } = query
  const result = await client.query({
    text,
    values: [...values],
    ...(name !== undefined && { name }),
    ...(msMax !== undefined && { query_timeout: queryTimeoutMs(msMax) }),
  })
  // Several statements in one text give a list of results; the last one says what was done.
  const last = Array.isArray(result) ? (result as QueryResult[]).at(-1) : result
  if (!last) throw new Error('a statement had no result')
  return last
}
