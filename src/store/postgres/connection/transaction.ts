import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../../lib/errors.ts'
import { currentAccountId } from '../../../lib/account-context.ts'
import { isRetryable } from './fault.ts'
import type { PooledSession, ConnectionPool, PostgresQuery, PostgresSession } from './pool.ts'
import { quoteLiteral } from './values.ts'

export type TransactionOptions = {
  /** How it begins. */
  readonly access: 'read' | 'write'
  /** Longest time of one statement, ms, where it is not that of the pool; 0: any. */
  readonly statementTimeoutMs?: number
  /** Whether the job may be done again after a race; without it, only after a deadlock; or never. */
  readonly retryOn?: 'race' | 'deadlock' | 'never'
  /** Told before the commit and after it, so that tests can fail there. */
  readonly onCommit?: ((step: 'commit' | 'committed') => void) | undefined
}

const beginStatements = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
}

/** Longest wait for the turn in a gallery that many write to at once. */
const lockTimeoutMs = 10_000

/** A job that lost a race is done again, from its beginning, so often. */
const triesMax = 4
const retryDelayMsMax = 20

/** A transaction as its job sees it. */
export type PostgresTransaction = Pick<PostgresSession, 'run'> & {
  /**
   * Sends a statement whose result nobody needs: the next one need not wait for it. Should it fail,
   * the whole transaction does.
   */
  readonly send: (query: PostgresQuery) => void
  /** Runs what may have to wait for other transactions, longer than a statement may take. */
  readonly runWaiting: PostgresSession['run']
  /** Whether anything was asked yet: until then there is no transaction, and no connection. */
  readonly hasBegun: () => boolean
}

/**
 * Runs a job as one transaction, which begins with its first statement. It is done again when it was
 * the victim of a deadlock or of a race.
 *
 * @throws HttpError 503 when the database does not answer, or nobody can say whether it committed.
 */
export async function transact<T>(
  pool: ConnectionPool,
  options: TransactionOptions,
  job: (running: PostgresTransaction) => Promise<T> | T,
): Promise<T> {
  const { retryOn: redo = 'deadlock' } = options
  for (let tries = 1; ; tries++) {
    const ended = await tryOnce(pool, options, job)
    if ('value' in ended) return ended.value
    const isLast = redo === 'never' || tries === triesMax
    if ('doubt' in ended) {
      const { value, xid, cause } = ended.doubt
      if (await hasCommitted(pool, xid, cause)) return value
      if (isLast) throw cause
    } else if (isLast || !isRetryable(ended.error, redo)) throw retriesExhausted(ended.error)
    await sleep(Math.random() * retryDelayMsMax * tries)
  }
}

/** Whoever lost to others every time is told to come again: nothing is wrong with what was asked. */
function retriesExhausted(error: unknown): unknown {
  return isRetryable(error, 'deadlock') ? unavailable('The database is too busy.', 1, error) : error
}

/** How a try ended: with its value, with an error, or with a commit of which nothing was heard. */
type TryOutcome<T> =
  | { readonly value: T }
  | { readonly error: unknown }
  | { readonly doubt: { readonly value: T; readonly xid: string; readonly cause: unknown } }

async function tryOnce<T>(
  pool: ConnectionPool,
  options: TransactionOptions,
  job: (running: PostgresTransaction) => Promise<T> | T,
): Promise<TryOutcome<T>> {
  let opening: Promise<OpenTransaction> | undefined
  const failures: unknown[] = []
  const { statementTimeoutMs: msMax } = options
  const running: PostgresTransaction = {
    run: async (query) => {
      const { session } = await (opening ??= openTransaction(pool, options))
      return session.run({ timeoutMs: msMax, ...query })
    },
    send: (query) => {
      running.run(query).catch((error: unknown) => failures.push(error))
    },
    runWaiting: async (query) => {
      if (msMax !== undefined) return running.run(query)
      running.send({ text: `set local statement_timeout = ${lockTimeoutMs}` })
      const result = await running.run({ ...query, timeoutMs: lockTimeoutMs })
      running.send({ text: 'set local statement_timeout to default' })
      return result
    },
    hasBegun: () => opening !== undefined,
  }
  try {
    const value = await job(running)
    if (!opening) return { value }
    return await commitTransaction(await opening, options, { value, failures })
  } catch (error) {
    const { session } = (await opening?.catch(() => undefined)) ?? {}
    if (session && !session.isLost()) await session.run({ text: 'rollback' }).catch(() => undefined)
    return { error: failures[0] ?? error }
  } finally {
    await opening?.then(
      ({ release: giveBack }) => giveBack(),
      () => undefined,
    )
  }
}

type OpenTransaction = PooledSession & {
  /** Resolves with its id when it has begun; '' when it only reads. */
  readonly transactionId: Promise<string>
}

async function openTransaction(
  pool: ConnectionPool,
  options: TransactionOptions,
): Promise<OpenTransaction> {
  const loan = await pool.acquire()
  return { ...loan, transactionId: beginTransaction(loan.session, options) }
}

type JobResult<T> = { readonly value: T; readonly failures: readonly unknown[] }

/** @throws when it did not commit, or a hook says so. */
async function commitTransaction<T>(
  { session, transactionId: begun }: OpenTransaction,
  options: TransactionOptions,
  { value, failures }: JobResult<T>,
): Promise<TryOutcome<T>> {
  const xid = await begun
  callCommitHook(options, 'commit')
  try {
    const { command } = await session.run({ text: 'commit', timeoutMs: options.statementTimeoutMs })
    if (command !== 'COMMIT') throw new Error('the transaction was broken off before')
  } catch (cause) {
    if (!session.isLost() || options.access === 'read') throw failures[0] ?? cause
    return { doubt: { value, xid, cause } }
  }
  callCommitHook(options, 'committed')
  return { value }
}

/** What a hook throws is told as a database that fails. */
export function callCommitHook(
  { onCommit: atCommit }: Pick<TransactionOptions, 'onCommit'>,
  step: 'commit' | 'committed',
): void {
  try {
    atCommit?.(step)
  } catch (cause) {
    throw unavailable('The database does not answer.', 1, cause)
  }
}

/**
 * Begins, for the account at work; sent together with the first statement. Should this statement
 * itself fail, no account is set and whatever follows it sees no row and may write none.
 *
 * @returns the id of the transaction; '' when it only reads.
 */
function beginTransaction(
  session: PostgresSession,
  { access: begin, statementTimeoutMs: statementMsMax }: TransactionOptions,
): Promise<string> {
  const account = `set_config('facegate.account', ${quoteLiteral(currentAccountId())}, true)`
  const isWrite = begin === 'write'
  const xid = isWrite ? ', pg_current_xact_id()::text as xid' : ''
  const limit =
    statementMsMax === undefined ? '' : `; set local statement_timeout = ${statementMsMax}`
  const begun = session
    .run({ text: `${beginStatements[begin]}${limit}; select ${account}${xid}` })
    .then(({ rows }) => (typeof rows[0]?.['xid'] === 'string' ? rows[0]['xid'] : ''))
  begun.catch(() => undefined) // Whoever waits for it hears of it, and so does every later statement.
  return begun
}

/** The end of a transaction whose connection was cut is known soon after, or not here. */
const commitCheckTimeoutMs = 2000
const commitCheckIntervalMs = 50

/**
 * Asks what became of a commit of which nothing was heard.
 *
 * @throws HttpError 503 when the database cannot say.
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
  throw unavailable('Nobody knows whether the call was committed; send it again.', 1, cause)
}
