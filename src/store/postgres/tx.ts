import { microsMax } from '../../lib/money.ts'
import { bucketOf } from '../../lib/latency-histogram.ts'
import { binOf, hourOf } from '../hours.ts'
import type { AttemptRow } from '../schema.ts'
import type { AttemptOwner, Facts, LedgerHead, Reading, Tx } from '../tx.ts'
import type { Batches } from './batches.ts'
import { build } from './kysely.ts'
import { settleAtOnce } from './at-once.ts'
import { nameOf, prepare, type Runner } from './statement.ts'
import { sweepCalls } from './months.ts'
import type { Running } from './transaction.ts'

type Sender = Pick<Running, 'run' | 'send'>

/** The statements of a job, in its transaction. */
export function postgresTx(running: Running, batches: Batches): Tx {
  const savepoints = lazySavepoints(running)
  return {
    ...postgresReading(savepoints.runner),
    savepoint: savepoints.within,
    lock: async (name, mode) => {
      await locks[mode].run({ run: running.wait }, { name })
    },
    ...gateStatements(savepoints.runner),
    attempts: attemptStatements(savepoints.runner),
    ledger: ledgerStatements(savepoints.runner),
    settleAtOnce: (settlement) => settleAtOnce(running, batches, settlement),
  }
}

/** Runs queries in a transaction. */
export function postgresReading(on: Runner): Reading {
  return {
    build,
    run: async (query) => {
      const { sql: text, parameters } = query.compile()
      const { rows } = await on.run({ text, name: nameOf(text), values: parameters })
      // kysely knows the type of a row by the query.
      return rows as never
    },
  }
}

const locks = {
  alone: prepare('select pg_advisory_xact_lock(hashtextextended(:name, 0))'),
  together: prepare('select pg_advisory_xact_lock_shared(hashtextextended(:name, 0))'),
}

/**
 * A savepoint is set with the first statement of its work: many an action only computes, and pays
 * no round trip for it. The commit ends those that are left.
 */
function lazySavepoints(running: Running) {
  let depth = 0
  /** Savepoints whose work goes on, the outermost first; those that are set. */
  let set = 0
  const setAll = (): void => {
    for (; set < depth; set++) running.send({ text: `savepoint effect_${set + 1}` })
  }
  const runner: Sender = {
    run: (query) => {
      setAll()
      return running.run(query)
    },
    send: (query) => {
      setAll()
      running.send(query)
    },
  }
  const within: Tx['savepoint'] = async (work) => {
    depth++
    try {
      return await work()
    } catch (error) {
      if (set >= depth) await running.run({ text: `rollback to savepoint effect_${depth}` })
      throw error
    } finally {
      depth--
      set = Math.min(set, depth)
    }
  }
  return { runner, within }
}

const facts = prepare<Facts>(
  `select permissions, "expiresAtUtc", "revokedAtUtc", "lastUsedAtUtc", "sustainedPerS", burst,
     "fullAtUs", "unitMicros"
   from keys join projects using ("projectId") join buckets using ("projectId")
   left join prices on prices."accountId" = projects."accountId" and prices.action = :action
   where "keyId" = :keyId for update of buckets`,
)
const touchKey = prepare('update keys set "lastUsedAtUtc" = :atUtc where "keyId" = :keyId')
const fillBucket = prepare(
  'update buckets set "fullAtUs" = :fullAtUs where "projectId" = :projectId',
)
const countScore = prepare('select "countScore"(:projectId, :kind, :hourMs, :bin, :matched)')
const logCall = prepare(
  `select "logCall"(:atMs, :keyId, :projectId, :requestId, :action, :code, :latencyMs, :bucket,
     :costMicros, :isReplay, :transferId)`,
)

/** The facts hold the project's bucket until the transaction ends: claims of a project queue there. */
function gateStatements(
  on: Sender,
): Pick<Tx, 'facts' | 'touchKey' | 'fillBucket' | 'log' | 'sweepCalls' | 'countScore'> {
  return {
    facts: (of) => facts.first(on, of),
    touchKey: async (key) => touchKey.send(on, key),
    fillBucket: async (bucket) => fillBucket.send(on, bucket),
    log: async (row) => logCall.send(on, { ...row, bucket: bucketOf(row.latencyMs) + 1 }),
    sweepCalls: (old) => sweepCalls(on, old),
    countScore: async ({ kind, value, isMatched }, { atMs, projectId }) => {
      const matched = isMatched ? 1 : 0
      const of = { projectId, kind, hourMs: hourOf(atMs), bin: binOf(value) }
      countScore.send(on, { ...of, matched })
    },
  }
}

const findAttempt = prepare<AttemptRow>(
  `select * from attempts where "projectId" = :projectId and "requestId" = :requestId for update`,
)
const beginAttempt = prepare(
  `insert into attempts ("projectId", "requestId", "keyId", action, fingerprint, state, token,
     "reservedMicros", "deadlineMs", "windowStartMs")
   values (:projectId, :requestId, :keyId, :action, :fingerprint, 'running', :token,
     :reservedMicros, :deadlineMs, :windowStartMs)`,
)
const isOwner = `"projectId" = :projectId and "requestId" = :requestId and token = :token
  and state = 'running'`
const finishAttempt = prepare(
  `update attempts set state = 'done', "reservedMicros" = 0, code = :code, answer = :answer,
     scrubbed = :scrubbed
   where ${isOwner}`,
)
const dropAttempt = prepare(`delete from attempts where ${isOwner}`)
const removeAttempt = prepare(
  'delete from attempts where "projectId" = :projectId and "requestId" = :requestId',
)
const overdueAttempts = prepare<AttemptRow>(
  `select * from attempts where state = 'running' and "deadlineMs" < :deadlineMs
   order by "deadlineMs" limit nullif(:limit::bigint, -1) for update skip locked`,
)
const forgetAttempts = prepare(
  `delete from attempts where ("projectId", "requestId") in (
     select "projectId", "requestId" from attempts
     where state = 'done' and "windowStartMs" <= :windowStartMs
     order by "windowStartMs" limit :limit for update skip locked)`,
)

function attemptStatements(on: Sender): Tx['attempts'] {
  return {
    find: (key) => findAttempt.first(on, key),
    begin: async (row) => beginAttempt.send(on, row),
    finish: async (owner) => (await finishAttempt.run(on, owner)) === 1,
    drop: async (owner: AttemptOwner) => (await dropAttempt.run(on, owner)) === 1,
    remove: async (key) => (await removeAttempt.run(on, key)) === 1,
    overdue: (before) => overdueAttempts.all(on, before),
    forget: (old) => forgetAttempts.run(on, old),
  }
}

type Amount = { readonly ledger: string; readonly amountMicros: bigint }

const head = prepare<LedgerHead>(
  'select "headSeq", "headHash" from ledgers where ledger = :ledger for update',
)
const setHead = prepare(
  'update ledgers set "headSeq" = :headSeq, "headHash" = :headHash where ledger = :ledger',
)
const isRoom = `"balanceMicros" <= ${microsMax} - :amountMicros::bigint`
const isFree = '"balanceMicros" - "reservedMicros" >= :amountMicros::bigint'
const changes = {
  reserve: changeOf('"reservedMicros" = "reservedMicros" + :amountMicros', isFree),
  unreserve: changeOf('"reservedMicros" = "reservedMicros" - :amountMicros', 'true'),
  debit: changeOf('"balanceMicros" = "balanceMicros" - :amountMicros', isFree),
  credit: changeOf('"balanceMicros" = "balanceMicros" + :amountMicros', isRoom),
}
const append = prepare<{ readonly transferId: number }>(
  `insert into "ledgerTransfers" (chain, seq, kind, "fromLedger", "toLedger", "amountMicros", "atMs",
     "projectId", "requestId", "windowStartMs", "rowHash")
   values (:chain, :seq, :kind, :fromLedger, :toLedger, :amountMicros, :atMs, :projectId, :requestId,
     :windowStartMs, :rowHash) returning "transferId"`,
)

function changeOf(what: string, condition: string) {
  return prepare(`update ledgers set ${what} where ledger = :ledger and ${condition}`)
}

function ledgerStatements(on: Sender): Tx['ledger'] {
  const change = (name: keyof typeof changes) => async (amount: Amount) =>
    (await changes[name].run(on, amount)) === 1
  return {
    head: (ledger) => head.first(on, { ledger }),
    setHead: async (row) => setHead.send(on, row),
    reserve: change('reserve'),
    unreserve: change('unreserve'),
    debit: change('debit'),
    credit: change('credit'),
    append: async (row) => {
      const made = await append.first(on, row)
      if (!made) throw new Error('the ledger returned no id')
      return made.transferId
    },
  }
}
