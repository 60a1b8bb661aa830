import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import type { Store } from '../../src/store/database.ts'
import type { AdmitStatementRow, SettleStatementResult } from '../../src/store/gate/statements.ts'
import type { Schema } from '../../src/store/schema.ts'
import { createCallBatch } from '../../src/store/sqlite/calls/call-batch.ts'
import { createPendingCounts } from '../../src/store/sqlite/calls/pending-counts.ts'
import { sqliteDialect } from '../../src/store/sqlite/connection.ts'
import { createHourlyCountStatements } from '../../src/store/sqlite/hourly-counts.ts'
import { sqliteTx } from '../../src/store/sqlite/tx.ts'
import { createWriter, isFatal } from '../../src/store/sqlite/writer.ts'

export type MemoryStore = Pick<
  Store,
  'write' | 'admitInOneStatement' | 'settleInOneStatement' | 'close'
>

/** Opens the content of an SQLite file in memory, with the writer of the service and without a disk. */
export function openMemoryStore(content: Uint8Array): MemoryStore {
  const connection = new DatabaseSync(':memory:')
  connection.deserialize(content)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  const hourlyCounts = createHourlyCountStatements(connection)
  const pending = createPendingCounts(hourlyCounts)
  const { write, runCall } = createWriter({
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
      commit: async () => connection.exec('COMMIT'),
      rollback: () => connection.exec('ROLLBACK'),
      settled: () => Promise.resolve(),
      close: () => {},
    },
  })
  return {
    write,
    admitInOneStatement: (input) =>
      runCall({ kind: 'admit', input }) as Promise<AdmitStatementRow | undefined>,
    settleInOneStatement: (input) =>
      runCall({ kind: 'settle', input }) as Promise<SettleStatementResult | undefined>,
    close: () => db.destroy(),
  }
}
