import { createHash } from 'node:crypto'
import type { TransferRow } from '../store/schema.ts'

type HashedFields = Omit<TransferRow, 'transferId' | 'rowHash'>

/**
 * The link of a transfer in its hash chain: SHA-256 over the hash before it (32 zero bytes at first)
 * and the row as a JSON list of its fields in this fixed order. Who changes a row, or takes one away,
 * has to change every hash after it and the head.
 */
export function transferHash(before: Uint8Array, row: HashedFields): Buffer {
  const text = transferHashInput(row)
  return createHash('sha256')
    .update(before)
    .update(text.before + row.seq + text.after)
    .digest()
}

/** The row as it is hashed, before its number in the chain and after it: whoever adds it knows that. */
export function transferHashInput(row: Omit<HashedFields, 'seq'>): {
  readonly before: string
  readonly after: string
} {
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
