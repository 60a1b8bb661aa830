import type { DatabaseSync } from 'node:sqlite'
import { microsMax } from '../../lib/money.ts'
import { Kysely } from 'kysely'
import type { CountedCall } from '../gate/hourly-counts.ts'
import type { PendingCounts } from './pending-counts.ts'
import type { AttemptRow, CallRow, Schema, TransferRow } from '../schema.ts'
import { createHourlyCountStatements, registerSumLatencies } from './hourly-counts.ts'
import { prepare, createStatementCache, sqliteDialect } from './connection.ts'
import type { AdmissionFacts, LedgerHead, ReadTx, Tx } from '../tx.ts'

/**
 * The statements of a writer's job, prepared once on the connection that writes.
 *
 * @param pending takes the calls that are to be counted by the hour; without it, each is at once.
 */
export function sqliteTx(
  connection: DatabaseSync,
  hours = createHourlyCountStatements(connection),
  pending?: PendingCounts,
): Tx {
  const count = pending?.add ?? hours.countCall
  return {
    savepoint: async (work) => {
      connection.exec('SAVEPOINT effect')
      try {
        const value = await work()
        connection.exec('RELEASE effect')
        return value
      } catch (error) {
        if (connection.isTransaction) connection.exec('ROLLBACK TO effect; RELEASE effect')
        throw error
      }
    },
    lock: async () => {},
    ...sqliteReading(connection),
    ...gateStatements(connection, count),
    countScore: async (...scored) => hours.countScore(...scored),
    attempts: attemptStatements(connection),
    ledger: ledgerStatements(connection),
  }
}

/** Builds and runs queries without a turn of the event loop: its promises are settled already. */
export function sqliteReading(connection: DatabaseSync): ReadTx {
  registerSumLatencies(connection)
  const prepared = createStatementCache(connection)
  return {
    build: new Kysely<Schema>({ dialect: sqliteDialect(connection) }),
    run: async (query) => {
      const { sql, parameters } = query.compile()
      const statement = prepared(sql)
      if (statement.reader) return statement.all(parameters) as never
      statement.run(parameters)
      return []
    },
  }
}

function gateStatements(
  on: DatabaseSync,
  count: (row: CountedCall) => void,
): Pick<Tx, 'findAdmissionFacts' | 'touchKey' | 'upsertBucket' | 'logCall' | 'sweepCalls'> {
  const facts = prepare<AdmissionFacts>(
    on,
    `select permissions, expiresAtUtc, revokedAtUtc, lastUsedAtUtc, sustainedPerS, burst, fullAtUs,
       unitMicros
     from keys join projects using (projectId) left join buckets using (projectId)
     left join prices on prices.accountId = projects.accountId and prices.action = :action
     where keyId = :keyId`,
  )
  const touchKey = prepare(on, 'update keys set lastUsedAtUtc = :atUtc where keyId = :keyId')
  const fillBucket = prepare(
    on,
    `insert into buckets (projectId, fullAtUs) values (:projectId, :fullAtUs)
     on conflict (projectId) do update set fullAtUs = excluded.fullAtUs`,
  )
  const sweepCalls = prepare(
    on,
    `delete from calls where callId in
       (select callId from calls where atMs < :beforeMs order by atMs limit :limit)`,
  )
  const mark = prepare(
    on,
    `insert into marks (name, valueMs) values ('callsSweptBefore', :beforeMs)
     on conflict (name) do update set valueMs = max(valueMs, excluded.valueMs)`,
  )
  const log = prepare(on, insert('calls', callColumns))
  return {
    findAdmissionFacts: async (of) => facts.first(of),
    touchKey: async (key) => void touchKey.run(key),
    upsertBucket: async (bucket) => void fillBucket.run(bucket),
    logCall: async (row) => {
      log.run(row)
      count(row)
    },
    sweepCalls: async (old) => {
      const sweptRows = sweepCalls.run(old)
      if (sweptRows > 0) mark.run(old)
      return sweptRows
    },
  }
}

function attemptStatements(on: DatabaseSync): Tx['attempts'] {
  const find = prepare<AttemptRow>(
    on,
    'select * from attempts where projectId = :projectId and requestId = :requestId',
  )
  const begin = prepare(
    on,
    `insert into attempts (projectId, requestId, keyId, action, fingerprint, state, token,
       reservedMicros, deadlineMs, windowStartMs)
     values (:projectId, :requestId, :keyId, :action, :fingerprint, 'running', :token,
       :reservedMicros, :deadlineMs, :windowStartMs)`,
  )
  const isOwner = `projectId = :projectId and requestId = :requestId and token = :token
    and state = 'running'`
  const finish = prepare(
    on,
    `update attempts set state = 'done', reservedMicros = 0, code = :code, answer = :answer,
       scrubbed = :scrubbed
     where ${isOwner}`,
  )
  const drop = prepare(on, `delete from attempts where ${isOwner}`)
  const remove = prepare(
    on,
    'delete from attempts where projectId = :projectId and requestId = :requestId',
  )
  const overdue = prepare<AttemptRow>(
    on,
    `select * from attempts where state = 'running' and deadlineMs < :deadlineMs
     order by deadlineMs limit :limit`,
  )
  const forget = prepare(
    on,
    `delete from attempts where rowid in (select rowid from attempts
       where state = 'done' and windowStartMs <= :windowStartMs order by windowStartMs limit :limit)`,
  )
  return {
    find: async (key) => find.first(key),
    insert: async (row) => void begin.run(row),
    complete: async (owner) => finish.run(owner) === 1,
    deleteOwned: async (owner) => drop.run(owner) === 1,
    delete: async (key) => remove.run(key) === 1,
    findOverdue: async (before) => overdue.all(before),
    deleteExpired: async (old) => forget.run(old),
  }
}

function ledgerStatements(on: DatabaseSync): Tx['ledger'] {
  const head = prepare<LedgerHead>(
    on,
    'select headSeq, headHash from ledgers where ledger = :ledger',
  )
  const setHead = prepare(
    on,
    'update ledgers set headSeq = :headSeq, headHash = :headHash where ledger = :ledger',
  )
  const change = (what: string, condition: string) => {
    const statement = prepare(
      on,
      `update ledgers set ${what} where ledger = :ledger and ${condition}`,
    )
    return async (amount: { readonly ledger: string; readonly amountMicros: bigint }) =>
      statement.run(amount) === 1
  }
  const isRoom = `balanceMicros <= ${microsMax} - :amountMicros`
  const isFree = 'balanceMicros - reservedMicros >= :amountMicros'
  const append = prepare<{ transferId: number }>(
    on,
    `${insert('ledgerTransfers', transferColumns)} returning transferId`,
  )
  return {
    findHead: async (ledger) => head.first({ ledger }),
    setHead: async (row) => void setHead.run(row),
    reserve: change('reservedMicros = reservedMicros + :amountMicros', isFree),
    unreserve: change('reservedMicros = reservedMicros - :amountMicros', 'true'),
    debit: change('balanceMicros = balanceMicros - :amountMicros', isFree),
    credit: change('balanceMicros = balanceMicros + :amountMicros', isRoom),
    append: async (row) => {
      const made = append.first(row)
      if (!made) throw new Error('the ledger returned no id')
      return made.transferId
    },
  }
}

function insert(table: string, columns: readonly string[]): string {
  const values = columns.map((column) => `:${column}`)
  return `insert into ${table} (${columns.join(', ')}) values (${values.join(', ')})`
}

const callColumns: readonly (keyof CallRow)[] = [
  'atMs',
  'keyId',
  'projectId',
  'requestId',
  'action',
  'code',
  'latencyMs',
  'costMicros',
  'isReplay',
  'transferId',
]

const transferColumns: readonly (keyof TransferRow)[] = [
  'chain',
  'seq',
  'kind',
  'fromLedger',
  'toLedger',
  'amountMicros',
  'atMs',
  'projectId',
  'requestId',
  'windowStartMs',
  'rowHash',
]
