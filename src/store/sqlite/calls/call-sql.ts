import type { CallRow, TransferRow } from '../../schema.ts'

/** The condition for the owner of a running attempt. */
export const isOwnerSql = `projectId = :projectId and requestId = :requestId and token = :token
  and state = 'running'`

export const attemptInsertSql = `insert into attempts (projectId, requestId, keyId, action, fingerprint,
    state, token, reservedMicros, deadlineMs, windowStartMs)
  values (:projectId, :requestId, :keyId, :action, :fingerprint, 'running', :token,
    :reservedMicros, :deadlineMs, :windowStartMs)`

export const touchKeySql = 'update keys set lastUsedAtUtc = :atUtc where keyId = :keyId'

export const upsertBucketSql = `insert into buckets (projectId, fullAtUs) values (:projectId, :fullAtUs)
  on conflict (projectId) do update set fullAtUs = excluded.fullAtUs`

export const attemptCompleteSql = `update attempts set state = 'done', reservedMicros = 0,
    code = :code, answer = :answer, scrubbed = :scrubbed
  where ${isOwnerSql}`

const callColumns: readonly (keyof CallRow)[] = [
  'atMs',
  'keyId',
  'projectId',
  'requestId',
  'action',
  'code',
  'latencyMs',
  'costMicros',
  'meteredMicros',
  'isReplay',
  'transferId',
  'detail',
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

export const insertCallSql = insertSql('calls', callColumns)
export const insertTransferSql = insertSql('ledgerTransfers', transferColumns)

function insertSql(table: string, columns: readonly string[]): string {
  const values = columns.map((column) => `:${column}`)
  return `insert into ${table} (${columns.join(', ')}) values (${values.join(', ')})`
}
