import { Pool as Connections, type PoolClient, type QueryResult } from 'pg'
import { findScopedAccount } from '../../../lib/account-context.ts'
import { createKeyedQueue, takePlace } from '../../../lib/limits/keyed-queue.ts'
import type { Log } from '../../../lib/log.ts'
import { bindToCall } from '../../../lib/observability/call-trace.ts'
import type { ConnectionCounts } from '../../database.ts'
import { faultOf } from './fault.ts'
import { getTypeParser, readRows } from './values.ts'

/** A statement with the values of `$1`, `$2`, … in this order. */
export type PostgresQuery = {
  readonly text: string
  readonly values?: readonly unknown[]
  /** If given, the statement is prepared once on each direct connection under this name. */
  readonly name?: string | undefined
  /** The longest execution time, ms, instead of the pool's limit; 0: no limit. */
  readonly timeoutMs?: number | undefined
}

export type PostgresResult = {
  readonly rows: readonly Record<string, unknown>[]
  /** The number of rows changed or read. */
  readonly count: number
  /** The executed command. It is ROLLBACK if a COMMIT rolled back a failed transaction. */
  readonly command: string
}

/** An acquired connection. */
export type PostgresSession = {
  /** Sends a statement immediately. Results arrive in the order of the statements. */
  readonly run: (query: PostgresQuery) => Promise<PostgresResult>
  /** Whether the connection was lost, so that the result of the last statement is unknown. */
  readonly isLost: () => boolean
  /** Whether the session belongs to this connection: its settings, locks and prepared statements. */
  readonly isDirect: boolean
  /** The longest execution time of a statement, ms. Without a session each transaction sets it. */
  readonly statementTimeoutMs: number
}

export type ConnectionPool = ReturnType<typeof openPool>

export type PooledSession = { readonly session: PostgresSession; readonly release: () => void }

export type ConnectionPoolOptions = {
  readonly connectionsMax: number
  /** The longest execution time of a statement, ms; 0: no limit. */
  readonly statementTimeoutMs: number
  readonly log?: Pick<Log, 'warn'> | undefined
}

export const tooBusy = 'The database is too busy.'

/** Of the work of an account, or with a lock; further work is rejected with 503. */
const limits = { waitingMax: 1000, detail: tooBusy }

/** The longest wait for a free connection or for a new one. */
const connectTimeoutMs = 5000

/** The longest wait for a lock, for example of a gallery with many concurrent writers. */
export const lockTimeoutMs = 10_000

/** Transactions of one lock with a connection: one runs, and the next one has begun. */
const perLock = 2

/** Lists of an account wait for at most four connections: two of its keys and two of the console. */
const perAccountMin = 5

/** If the server does not cancel a statement in time, the client stops waiting this much later. */
const responseMarginMs = 1000
const timeoutMsMax = 2 ** 31 - 1

export function openPool(url: string, options: ConnectionPoolOptions) {
  const { connectionsMax, statementTimeoutMs, log } = options
  const claims = new WeakMap<PoolClient, Promise<boolean>>()
  const pool = new Connections({
    connectionString: url,
    fallback_application_name: 'facegate',
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs(statementTimeoutMs),
    keepAlive: true,
    pipeline: true,
    types: { getTypeParser },
  })
  // The pool removes an idle connection that ends and opens a new one when needed. Binding the
  // handler here keeps the ids of the call that opened the connection out of the log line.
  const onIdleError = (error: Error) =>
    log?.warn({ reason: error.message }, 'an idle database connection ended')
  pool.on('error', bindToCall(onIdleError))
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
    const claim = claimSession(client, statementTimeoutMs)
    claim.catch(() => undefined) // `acquire` awaits it.
    claims.set(client, claim)
  })
  const kindOf = async (client: PoolClient) => {
    return { isDirect: (await claims.get(client)) === true, statementTimeoutMs }
  }
  const take = shareAmongAccounts(connectionsMax, () => acquire(pool, kindOf))
  return {
    /**
     * Acquires a connection, which must be released. The work of an account has at most a half of the
     * connections, or five of less than ten, so that its waits for locks do not stop other accounts.
     *
     * @throws HttpError 503 if none is available.
     */
    acquire: take,
    /** The transactions of this process by the lock that they take. */
    turns: createKeyedQueue({ ...limits, runningMax: perLock, waitMsMax: lockTimeoutMs }),
    /** Acquires a connection, runs the work and releases the connection. */
    withSession: async <T>(work: (session: PostgresSession) => Promise<T>): Promise<T> => {
      const { session, release } = await take()
      return work(session).finally(release)
    },
    counts: (): ConnectionCounts => {
      const { totalCount, idleCount: idle, waitingCount: waiting } = pool
      return { busy: totalCount - idle, idle, waiting }
    },
    close: () => pool.end(),
  }
}

/** Limits the connections that the work of an account uses at the same time. */
function shareAmongAccounts(connectionsMax: number, take: () => Promise<PooledSession>) {
  const share = Math.max(perAccountMin, Math.floor(connectionsMax / 2))
  const runningMax = Math.max(1, Math.min(share, connectionsMax - 1))
  const shares = createKeyedQueue({ ...limits, runningMax, waitMsMax: connectTimeoutMs })
  return async (): Promise<PooledSession> => {
    const accountId = findScopedAccount()
    const free = accountId ? await takePlace(shares, accountId) : undefined
    try {
      const { session, release } = await take()
      return { session, release: () => [release(), free?.()] }
    } catch (error) {
      free?.()
      throw error
    }
  }
}

/**
 * Sets the statement timeout of a new connection if its session belongs to this client alone.
 *
 * A pooler in transaction mode, such as PgBouncer, gives each transaction any session of the database.
 * Settings, locks and prepared statements of a session would then reach other clients. Poolers send
 * their own process id at the start of a connection, so the database returns a different one.
 *
 * @returns whether the session belongs to this client.
 */
async function claimSession(client: PoolClient, statementTimeoutMs: number): Promise<boolean> {
  // The driver's types omit the process id.
  const pid = 'processID' in client ? Number(client.processID) : 0
  const { rowCount } = await client.query(
    `select set_config('statement_timeout', '${statementTimeoutMs}', false)
     where pg_backend_pid() = ${pid}`,
  )
  return rowCount === 1
}

function queryTimeoutMs(statementTimeoutMs: number): number {
  return statementTimeoutMs === 0 ? timeoutMsMax : statementTimeoutMs + responseMarginMs
}

type SessionKind = Pick<PostgresSession, 'isDirect' | 'statementTimeoutMs'>

async function acquire(pool: Connections, kindOf: (client: PoolClient) => Promise<SessionKind>) {
  const client = await pool.connect().catch((error: unknown) => {
    throw faultOf(error).error
  })
  const kind = await kindOf(client).catch((error: unknown) => {
    client.release(true)
    throw faultOf(error).error
  })
  let isUnusable = false
  let isLost = false
  const session: PostgresSession = {
    ...kind,
    run: async ({ name, ...query }) => {
      const prepared = kind.isDirect ? { ...query, name } : query
      const result = await send(client, prepared).catch((cause: unknown) => {
        const fault = faultOf(cause)
        isUnusable ||= fault.isUnusable
        isLost ||= fault.isLost
        throw fault.error
      })
      return { rows: readRows(result), count: result.rowCount ?? 0, command: result.command }
    },
    isLost: () => isLost,
  }
  // A connection with an open transaction is closed and not reused.
  const isReusable = (): boolean => !isUnusable && client.getTransactionStatus() === 'I'
  return { session, release: () => client.release(!isReusable()) }
}

async function send(client: PoolClient, query: PostgresQuery): Promise<QueryResult> {
  const { text, name, values = [], timeoutMs } = query
  const result = await client.query({
    text,
    values: [...values],
    ...(name !== undefined && { name }),
    ...(timeoutMs !== undefined && { query_timeout: queryTimeoutMs(timeoutMs) }),
  })
  // Several statements in one text return a list of results; the last one is used.
  const last = Array.isArray(result) ? (result as QueryResult[]).at(-1) : result
  if (!last) throw new Error('a statement returned no result')
  return last
}
