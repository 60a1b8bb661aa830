import { setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../../lib/errors.ts'
import { accountAtWork } from '../../lib/account.ts'
import { isPassing } from './fault.ts'
import type { Pool, Query, Session } from './pool.ts'

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
  /** Whether anything was sent yet: until then there is no transaction. */
  readonly hasBegun: () => boolean
  /** Runs outside of any transaction; only where none has begun. */
  readonly alone: Session['run']
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
    const ended = await pool.lend((session) => once(session, options, job)).catch(failed)
    if ('value' in ended) return ended.value
    const isLast = redo === 'never' || tries === triesMax
    if ('doubt' in ended) {
      const { value, xid, cause } = ended.doubt
      if (await hasCommitted(pool, xid, cause)) return value
      if (isLast) throw cause
    } else if (isLast || !isPassing(ended.error, redo)) throw ended.error
    await sleep(Math.random() * pauseMsMax * tries)
  }
}

/** How a try ended: with its value, with an error, or with a commit of which nothing was heard. */
type Ended<T> =
  | { readonly value: T }
  | { readonly error: unknown }
  | { readonly doubt: { readonly value: T; readonly xid: string; readonly cause: unknown } }

function failed(error: unknown): { readonly error: unknown } {
  return { error }
}

async function once<T>(
  session: Session,
  options: TransactionOptions,
  job: (running: Running) => Promise<T> | T,
): Promise<Ended<T>> {
  let begun: Promise<string> | undefined
  const failures: unknown[] = []
  const running: Running = {
    run: (query) => {
      begun ??= start(session, options)
      return session.run(query)
    },
    send: (query) => {
      running.run(query).catch((error: unknown) => failures.push(error))
    },
    hasBegun: () => begun !== undefined,
    alone: session.run,
  }
  let value: T
  try {
    value = await job(running)
    if (!begun) return { value }
    await begun
    tell(options, 'commit')
  } catch (error) {
    if (begun && !session.isLost()) await session.run({ text: 'rollback' }).catch(() => undefined)
    return { error: failures[0] ?? error }
  }
  try {
    const { command } = await session.run({ text: 'commit' })
    const [error = new Error('the transaction was broken off before')] = failures
    if (command !== 'COMMIT') return { error }
  } catch (cause) {
    if (!session.isLost() || options.begin === 'read') return { error: failures[0] ?? cause }
    return { doubt: { value, xid: await begun, cause } }
  }
  try {
    tell(options, 'committed')
  } catch (error) {
    return { error }
  }
  return { value }
}

function tell({ atCommit }: TransactionOptions, step: 'commit' | 'committed'): void {
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

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
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
