import { DatabaseSync } from 'node:sqlite'
import { Kysely } from 'kysely'
import type { Schema } from '../../src/store/schema.ts'
import { openWriter } from '../../src/store/sqlite/calls/open-writer.ts'
import { sqliteDialect } from '../../src/store/sqlite/connection.ts'
import type { Writer } from '../../src/store/sqlite/writer.ts'

export type MemoryStore = Writer & { readonly close: () => Promise<void> }

/** Opens the content of an SQLite file in memory, with the writer of the service and without a disk. */
export function openMemoryStore(content: Uint8Array): MemoryStore {
  const connection = new DatabaseSync(':memory:')
  connection.deserialize(content)
  const db = new Kysely<Schema>({ dialect: sqliteDialect(connection) })
  const writer = openWriter({
    db,
    connection,
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
