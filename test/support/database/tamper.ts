import path from 'node:path'
import { openSqlite } from '../../../src/store/sqlite/connection.ts'
import { databaseSettings } from './engine.ts'
import { runSql, sharedPostgresServer, urlWithDatabase } from './postgres-server.ts'

/** Runs statements on the database of a data folder without its triggers, as an administrator could. */
export async function tamper(dataDir: string, sql: string): Promise<void> {
  const url = await adminUrlOf(dataDir)
  if (url === undefined) tamperWithSqlite(dataDir, sql)
  else await runSql(url, `set session_replication_role = replica; ${sql}`)
}

/** Returns the URL of the superuser; undefined for SQLite. */
async function adminUrlOf(dataDir: string): Promise<string | undefined> {
  const { DATABASE_URL: url = '' } = await databaseSettings(dataDir)
  if (url === '') return undefined
  const { adminUrl } = await sharedPostgresServer()
  return urlWithDatabase(adminUrl, new URL(url).pathname.slice(1))
}

/** The triggers are created again: without them, the audit would report that they are missing. */
export function tamperWithSqlite(dataDir: string, sql: string): void {
  const connection = openSqlite(path.join(dataDir, 'facegate.db'))
  const triggers = connection
    .prepare(`select name, sql from sqlite_schema where type = 'trigger'`)
    .all()
  const drops = triggers.map(({ name }) => `drop trigger "${String(name)}"`)
  const creations = triggers.map((trigger) => String(trigger['sql']))
  connection.exec(['begin', ...drops, sql, ...creations, 'commit'].join(';\n'))
  connection.close()
}
