import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../../lib/errors.ts'
import { takePlace } from '../../../lib/limits/keyed-queue.ts'
import { requireAccountScope } from '../../../lib/account-context.ts'
import { isRetryable } from './fault.ts'
import {
  type ConnectionPool,
  type PooledSession,
  type PostgresQuery,
  type PostgresSession,
  lockTimeoutMs,
  tooBusy,
} from './pool.ts'
import { quoteLiteral } from './values.ts'

export type TransactionOptions = {
  /** `read` reads one snapshot. */
  readonly access: 'read' | 'write'
  /** The longest execution time of a statement, ms, instead of the pool's limit; 0: no limit. */
  readonly statementTimeoutMs?: number | undefined
  /** The errors after which the job is repeated, see `isRetryable`; `deadlock` by default. */
  readonly retryOn?: 'race' | 'deadlock' | 'never'
}

const beginStatements = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
}

/** The maximum number of times a job is run. */
const triesMax = 4
const retryDelayMsMax = 20

/** A transaction as its job uses it. */
export type PostgresTransaction = Pick<PostgresSession, 'run'> & {
  /**
   * Sends a statement whose result is not needed, so that the next one need not wait for it. If it
   * fails, the whole transaction fails.
   */
  readonly send: (query: PostgresQuery) => void
  /** Runs a statement that may wait for other transactions, longer than the statement timeout. */
  readonly runWaiting: PostgresSession['run']
  /** Waits for others of this process that take the same lock, while it has no connection. */
  readonly waitForTurn: (lock: string) => Promise<void>
}

/**
 * Runs a job as one transaction, which begins with its first statement. The job is repeated from its
 * beginning after the errors of `retryOn`.
 *
 * @throws Error if no account scope is set, see `lib/account-context.ts`.
 * @throws HttpError 503 if the database does not respond or the result of the commit is unknown.
 */
export async function transact<T>(
  pool: ConnectionPool,
  options: TransactionOptions,
  job: (transaction: PostgresTransaction) => Promise<T> | T,
): Promise<T> {
  requireAccountScope()
  const { retryOn = 'deadlock' } = options
  for (let tries = 1; ; tries++) {
    const outcome = await tryOnce(pool, options, job)
    if ('value' in outcome) return outcome.value
    const isLast = retryOn === 'never' || tries === triesMax
    if ('unknown' in outcome) {
      const { value, xid, cause } = outcome.unknown
      if (await hasCommitted(pool, xid, cause)) return value
      if (isLast) throw cause
    } else if (isLast || !isRetryable(outcome.error, retryOn)) throw finalError(outcome.error)
    await sleep(Math.random() * retryDelayMsMax * tries)
  }
}

/** A job that conflicted with others in every try is not at fault: the caller may retry (503). */
function finalError(error: unknown): unknown {
  return isRetryable(error, 'deadlock') ? unavailable(tooBusy, 1, error) : error
}

/** The outcome of a try: a value, an error, or a commit whose result is unknown. */
type TryOutcome<T> =
  | { readonly value: T }
  | { readonly error: unknown }
  | { readonly unknown: { readonly value: T; readonly xid: string; readonly cause: unknown } }

async function tryOnce<T>(
  pool: ConnectionPool,
  options: TransactionOptions,
  job: (transaction: PostgresTransaction) => Promise<T> | T,
): Promise<TryOutcome<T>> {
  let opening: Promise<OpenTransaction> | undefined
  let endTurn: (() => void) | undefined
  const failures: unknown[] = []
  const { statementTimeoutMs } = options
  const transaction: PostgresTransaction = {
    run: async (query) => {
      const { session } = await (opening ??= openTransaction(pool, options))
      return session.run({ timeoutMs: statementTimeoutMs, ...query })
    },
    send: (query) => {
      transaction.run(query).catch((error: unknown) => failures.push(error))
    },
    runWaiting: async (query) => {
      if (statementTimeoutMs !== undefined) return transaction.run(query)
      transaction.send({ text: `set local statement_timeout = ${lockTimeoutMs}` })
      const result = await transaction.run({ ...query, timeoutMs: lockTimeoutMs })
      const { session } = await (opening ??= openTransaction(pool, options))
      transaction.send({ text: `set local statement_timeout = ${session.statementTimeoutMs}` })
      return result
    },
    waitForTurn: async (lock) => {
      if (!opening && !endTurn) endTurn = await takePlace(pool.turns, lock)
    },
  }
  try {
    const value = await job(transaction)
    if (!opening) return { value }
    return await commitTransaction(await opening, options, { value, failures })
  } catch (error) {
    const { session } = (await opening?.catch(() => undefined)) ?? {}
    if (session && !session.isLost()) await session.run({ text: 'rollback' }).catch(() => undefined)
    return { error: failures[0] ?? error }
  } finally {
    await opening?.then(
      ({ release }) => release(),
      () => undefined,
    )
    endTurn?.()
  }
}

type OpenTransaction = PooledSession & {
  /** Resolves with the transaction's id when it has begun; '' if it only reads. */
  readonly transactionId: Promise<string>
}

async function openTransaction(pool: ConnectionPool, options: TransactionOptions) {
  const pooled = await pool.acquire()
  return { ...pooled, transactionId: beginTransaction(pooled.session, options) }
}

type JobResult<T> = { readonly value: T; readonly failures: readonly unknown[] }

/** @throws Error if the transaction did not commit. */
async function commitTransaction<T>(
  { session, transactionId }: OpenTransaction,
  options: TransactionOptions,
  { value, failures }: JobResult<T>,
): Promise<TryOutcome<T>> {
  const xid = await transactionId
  try {
    const { command } = await session.run({ text: 'commit', timeoutMs: options.statementTimeoutMs })
    if (command !== 'COMMIT') throw new Error('the transaction had failed before its commit')
  } catch (cause) {
    if (!session.isLost() || options.access === 'read') throw failures[0] ?? cause
    return { unknown: { value, xid, cause } }
  }
  return { value }
}

/**
 * Begins a transaction in the current account scope. The statement is sent together with the job's
 * first one. If it fails, no scope is set, so later statements see no rows and cannot write any.
 *
 * @returns the id of the transaction; '' if it only reads.
 */
function beginTransaction(
  session: PostgresSession,
  { access, statementTimeoutMs }: TransactionOptions,
): Promise<string> {
  const scope = `set_config('facegate.account', ${quoteLiteral(requireAccountScope())}, true)`
  const xid = access === 'write' ? ', pg_current_xact_id()::text as xid' : ''
  const sessionTimeoutMs = session.isDirect ? undefined : session.statementTimeoutMs
  const timeoutMs = statementTimeoutMs ?? sessionTimeoutMs
  const timeout = timeoutMs === undefined ? '' : `; set local statement_timeout = ${timeoutMs}`
  const transactionId = session
    .run({ text: `${beginStatements[access]}${timeout}; select ${scope}${xid}` })
    .then(({ rows }) => (typeof rows[0]?.['xid'] === 'string' ? rows[0]['xid'] : ''))
  transactionId.catch(() => undefined) // The commit awaits it, and every later statement fails too.
  return transactionId
}

/** How long the state of a commit is checked after the connection was lost. */
const commitCheckTimeoutMs = 2000
const commitCheckIntervalMs = 50

/**
 * Returns whether a transaction was committed whose connection was lost during the commit.
 *
 * @throws HttpError 503 if the database cannot determine it.
 */
async function hasCommitted(pool: ConnectionPool, xid: string, cause: unknown): Promise<boolean> {
  const query = { text: 'select pg_xact_status($1::xid8) as status', values: [xid] }
  for (const endMs = performance.now() + commitCheckTimeoutMs; performance.now() < endMs;) {
    const { rows } = await pool.withSession((session) => session.run(query))
    const status = rows[0]?.['status']
    if (status === 'committed') return true
    if (status === 'aborted') return false
    if (status !== 'in progress') break
    await sleep(commitCheckIntervalMs)
  }
  throw unavailable('It is unknown whether the call was committed; send it again.', 1, cause)
}
