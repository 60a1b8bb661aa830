import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../lib/errors.ts'
import { accountAtWork } from '../../lib/account.ts'
import { isPassing } from './fault.ts'
import type { Loan, Pool, Query, Session } from './pool.ts'
import { literal } from './values.ts'

export type TransactionOptions = {
  /** How it begins. */
  readonly begin: 'read' | 'write'
  /** Longest time of one statement, ms, where it is not that of the pool; 0: any. */
  readonly statementMsMax?: number
  /** Whether the job may be done again after a race; without it, only after a deadlock; or never. */
  readonly redo?: 'race' | 'deadlock' | 'never'
  /** Told before the commit and after it, so that tests can fail there. */
  readonly atCommit?: ((step: 'commit' | 'committed') => void) | undefined
}

const begins = {
  read: 'begin isolation level repeatable read read only',
  write: 'begin isolation level read committed',
}

/** Longest wait for the turn in a gallery that many write to at once. */
const turnMsMax = 10_000

/** A job that lost a race is done again, from its beginning, so often. */
const triesMax = 4
const pauseMsMax = 20

/** A transaction as its job sees it. */
export type Running = Pick<Session, 'run'> & {
  /**
   * Sends a statement whose result nobody needs: the next one need not wait for it. Should it fail,
   * the whole transaction does.
   */
  readonly send: (query: Query) => void
  /** Runs what may have to wait for other transactions, longer than a statement may take. */
  readonly wait: Session['run']
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
  pool: Pool,
  options: TransactionOptions,
  job: (running: Running) => Promise<T> | T,
): Promise<T> {
  const { redo = 'deadlock' } = options
  for (let tries = 1; ; tries++) {
    const ended = await once(pool, options, job)
    if ('value' in ended) return ended.value
    const isLast = redo === 'never' || tries === triesMax
    if ('doubt' in ended) {
      const { value, xid, cause } = ended.doubt
      if (await hasCommitted(pool, xid, cause)) return value
      if (isLast) throw cause
    } else if (isLast || !isPassing(ended.error, redo)) throw lost(ended.error)
    await sleep(Math.random() * pauseMsMax * tries)
  }
}

/** Whoever lost to others every time is told to come again: nothing is wrong with what was asked. */
function lost(error: unknown): unknown {
  return isPassing(error, 'deadlock') ? unavailable('The database is too busy.', 1, error) : error
}

/** How a try ended: with its value, with an error, or with a commit of which nothing was heard. */
type Ended<T> =
  | { readonly value: T }
  | { readonly error: unknown }
  | { readonly doubt: { readonly value: T; readonly xid: string; readonly cause: unknown } }

async function once<T>(
  pool: Pool,
  options: TransactionOptions,
  job: (running: Running) => Promise<T> | T,
): Promise<Ended<T>> {
  let opening: Promise<Open> | undefined
  const failures: unknown[] = []
  const { statementMsMax: msMax } = options
  const running: Running = {
    run: async (query) => {
      const { session } = await (opening ??= open(pool, options))
      return session.run({ msMax, ...query })
    },
    send: (query) => {
      running.run(query).catch((error: unknown) => failures.push(error))
    },
    wait: async (query) => {
      if (msMax !== undefined) return running.run(query)
      running.send({ text: `set local statement_timeout = ${turnMsMax}` })
      const result = await running.run({ ...query, msMax: turnMsMax })
      running.send({ text: 'set local statement_timeout to default' })
      return result
    },
    hasBegun: () => opening !== undefined,
  }
  try {
    const value = await job(running)
    if (!opening) return { value }
    return await end(await opening, options, { value, failures })
  } catch (error) {
    const { session } = (await opening?.catch(() => undefined)) ?? {}
    if (session && !session.isLost()) await session.run({ text: 'rollback' }).catch(() => undefined)
    return { error: failures[0] ?? error }
  } finally {
    await opening?.then(
      ({ giveBack }) => giveBack(),
      () => undefined,
    )
  }
}

type Open = Loan & {
  /** Resolves with its id when it has begun; '' when it only reads. */
  readonly begun: Promise<string>
}

async function open(pool: Pool, options: TransactionOptions): Promise<Open> {
  const loan = await pool.take()
  return { ...loan, begun: start(loan.session, options) }
}

type Done<T> = { readonly value: T; readonly failures: readonly unknown[] }

/** @throws when it did not commit, or a hook says so. */
async function end<T>(
  { session, begun }: Open,
  options: TransactionOptions,
  { value, failures }: Done<T>,
): Promise<Ended<T>> {
  const xid = await begun
  tell(options, 'commit')
  try {
    const { command } = await session.run({ text: 'commit', msMax: options.statementMsMax })
    if (command !== 'COMMIT') throw new Error('the transaction was broken off before')
  } catch (cause) {
    if (!session.isLost() || options.begin === 'read') throw failures[0] ?? cause
    return { doubt: { value, xid, cause } }
  }
  tell(options, 'committed')
  return { value }
}

/** What a hook throws is told as a database that fails. */
export function tell(
  { atCommit }: Pick<TransactionOptions, 'atCommit'>,
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
function start(session: Session, { begin, statementMsMax }: TransactionOptions): Promise<string> {
  const account = `set_config('facegate.account', ${literal(accountAtWork())}, true)`
  const isWrite = begin === 'write'
  const xid = isWrite ? ', pg_current_xact_id()::text as xid' : ''
  const limit =
    statementMsMax === undefined ? '' : `; set local statement_timeout = ${statementMsMax}`
  const begun = session
    .run({ text: `${begins[begin]}${limit}; select ${account}${xid}` })
    .then(({ rows }) => (typeof rows[0]?.['xid'] === 'string' ? rows[0]['xid'] : ''))
  begun.catch(() => undefined) // Whoever waits for it hears of it, and so does every later statement.
  return begun
}

/** The end of a transaction whose connection was cut is known soon after, or not here. */
const askMsMax = 2000
const askEveryMs = 50

/**
 * Asks what became of a commit of which nothing was heard.
 *
 * @throws HttpError 503 when the database cannot say.
 */
async function hasCommitted(pool: Pool, xid: string, cause: unknown): Promise<boolean> {
  const query = { text: 'select pg_xact_status($1::xid8) as status', values: [xid] }
  for (const endMs = performance.now() + askMsMax; performance.now() < endMs;) {
    const { rows } = await pool.lend((session) => session.run(query))
    const status = rows[0]?.['status']
    if (status === 'committed') return true
    if (status === 'aborted') return false
    if (status !== 'in progress') break
    await sleep(askEveryMs)
  }
  throw unavailable('Nobody knows whether the call was committed; send it again.', 1, cause)
}
