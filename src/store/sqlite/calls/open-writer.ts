import { createHourlyCountStatements, createPendingCounts } from '../hourly-counts.ts'
import { sqliteTx } from '../tx.ts'
import { createWriter, isFatal, type WriterOptions } from '../writer.ts'
import { createCallBatch } from './call-batch.ts'

/** Prepares the statements of the only connection that writes. */
export function openWriter(options: Pick<WriterOptions, 'db' | 'connection' | 'transaction'>) {
  const { connection } = options
  const pending = createPendingCounts(createHourlyCountStatements(connection))
  const tx = sqliteTx(connection, pending)
  const callBatch = createCallBatch(connection, { pending, isFatal })
  return createWriter({ ...options, tx, pending, callBatch })
}
