import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { StoreFacts } from '../about.ts'

export async function aboutSqlite(file: string, connection: DatabaseSync): Promise<StoreFacts> {
  const row = connection.prepare('select sqlite_version() as version').get()
  const [main, log] = await Promise.all([sizeOf(file), sizeOf(`${file}-wal`)])
  const version = `SQLite ${String(row?.['version'])}`
  return { kind: 'sqlite', place: path.resolve(file), version, bytes: main + log, servers: [] }
}

function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  )
}
