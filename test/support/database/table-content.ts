import { type Store, sql } from '../../../src/store/database.ts'
import { openTestStore } from './engine.ts'

/** Returns every row of every table. */
export async function contentOf(folder: string): Promise<Readonly<Record<string, unknown>>> {
  await using store = await openDisposable(folder)
  const tables = await sql<{ name: string }>`
    select name from sqlite_schema where type = 'table' order by name`.execute(store.db)
  const content: Record<string, unknown> = {}
  for (const { name } of tables.rows)
    content[name] = (await sql`select * from ${sql.table(name)}`.execute(store.db)).rows
  return content
}

/** Opens the database of a data folder until the end of a block. */
export async function openDisposable(
  dataDir: string,
): Promise<Pick<Store, 'db'> & AsyncDisposable> {
  const store = await openTestStore(dataDir)
  return { db: store.db, [Symbol.asyncDispose]: store.close }
}
