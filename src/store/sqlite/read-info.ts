import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fileSize } from '../../lib/file-size.ts'
import type { DatabaseInfo } from '../database.ts'

export async function readSqliteInfo(
  file: string,
  connection: DatabaseSync,
): Promise<DatabaseInfo> {
  const row = connection.prepare('select sqlite_version() as version').get()
  const [main, log] = await Promise.all([fileSize(file), fileSize(`${file}-wal`)])
  const version = `SQLite ${String(row?.['version'])}`
  return { kind: 'sqlite', place: path.resolve(file), version, bytes: main + log, servers: [] }
}
