import { hash } from 'node:crypto'
import type { TransferRow } from '../schema.ts'

type HashedFields = Omit<TransferRow, 'transferId' | 'rowHash'>

/**
 * Returns the hash of a transfer in its chain: SHA-256 of the previous hash (32 zero bytes for the
 * first transfer) and of the row as a JSON list of its fields in this fixed order. A change or
 * removal of a row therefore requires a change of every later hash and of the head.
 */
export function transferHash(previousHash: Uint8Array, row: HashedFields): Buffer {
  const { before, after } = transferHashInput(row)
  return hash(
    'sha256',
    Buffer.concat([previousHash, Buffer.from(before + row.seq + after)]),
    'buffer',
  )
}

/** Returns the hashed text before and after `seq`, for code that assigns the number later. */
export function transferHashInput(row: Omit<HashedFields, 'seq'>) {
  const fields = [
    row.kind,
    row.fromLedger,
    row.toLedger,
    String(row.amountMicros),
    row.atMs,
    row.projectId,
    row.requestId,
    row.windowStartMs,
  ]
  return {
    before: `[${JSON.stringify(row.chain)},`,
    after: `,${JSON.stringify(fields).slice(1)}`,
  }
}
