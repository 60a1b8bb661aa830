import type { Tx } from '../../database.ts'
import { createHourlyCountStatements, createPendingCounts } from '../hourly-counts.ts'
import { sqliteTx } from '../tx.ts'
import { createWriter, isFatal, type Writer, type WriterOptions } from '../writer.ts'
import { createCallBatch } from './call-batch.ts'

type ConnectionOptions = Pick<WriterOptions, 'db' | 'connection' | 'transaction'>

/** Prepares the statements of the only connection that writes. */
export function openWriter(options: ConnectionOptions): {
  readonly tx: Tx
  readonly writer: Writer
} {
  const { connection } = options
  const pending = createPendingCounts(createHourlyCountStatements(connection))
  const tx = sqliteTx(connection, pending)
  const callBatch = createCallBatch(connection, { pending, isFatal })
  return { tx, writer: createWriter({ ...options, tx, pending, callBatch }) }
}
