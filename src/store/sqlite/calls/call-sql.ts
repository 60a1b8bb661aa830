import type { CallRow, TransferRow } from '../../schema.ts'

/** The condition for the owner of a running attempt. */
export const isOwnerSql = `projectId = :projectId and requestId = :requestId and token = :token
  and state = 'running'`

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
