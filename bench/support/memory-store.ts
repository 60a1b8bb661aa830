import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import type { Schema } from '../../src/store/schema.ts'
import { createCallBatch } from '../../src/store/sqlite/calls/call-batch.ts'
import { createPendingCounts } from '../../src/store/sqlite/calls/pending-counts.ts'
import { sqliteDialect } from '../../src/store/sqlite/connection.ts'
import { createHourlyCountStatements } from '../../src/store/sqlite/hourly-counts.ts'
import { sqliteTx } from '../../src/store/sqlite/tx.ts'
import { createWriter, isFatal, type Writer } from '../../src/store/sqlite/writer.ts'

export type MemoryStore = Writer & { readonly close: () => Promise<void> }

/** Opens the content of an SQLite file in memory, with the writer of the service and without a disk. */
export function openMemoryStore(content: Uint8Array): MemoryStore {
  const connection = new DatabaseSync(':memory:')
  connection.deserialize(content)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  const hourlyCounts = createHourlyCountStatements(connection)
  const pending = createPendingCounts(hourlyCounts)
  const writer = createWriter({
    db,
    connection,
    pending,
    tx: sqliteTx(connection, hourlyCounts, pending),
    callBatch: createCallBatch(connection, {
      pending,
      isFatal,
      countScore: hourlyCounts.countScore,
    }),
    transaction: {
      begin: () => connection.exec('BEGIN'),
      commit: () => connection.exec('COMMIT'),
      synchronize: () => Promise.resolve(),
      rollback: () => connection.exec('ROLLBACK'),
      close: () => {},
    },
  })
  return { ...writer, close: () => db.destroy() }
}
