import type { Store, StoreLocation, StoreOptions } from './database.ts'
import { openPostgresStore } from './postgres/open-postgres-store.ts'
import { openSqliteStore } from './sqlite/open-sqlite-store.ts'
import { traceStore } from './trace-store.ts'

/**
 * Opens a database and migrates it to the current schema.
 *
 * @param location a text is the data folder of an SQLite database.
 */
export async function openStore(
  location: StoreLocation | string,
  options: StoreOptions = {},
): Promise<Store> {
  return traceStore(await openUntraced(location, options))
}

function openUntraced(location: StoreLocation | string, options: StoreOptions): Promise<Store> {
  if (typeof location === 'string') return openSqliteStore(location, options)
  const { dataDir, databaseUrl, connectionsMax } = location
  if (databaseUrl === '') return openSqliteStore(dataDir, options)
  return openPostgresStore(databaseUrl, {
    ...options,
    ...(connectionsMax !== undefined && { connectionsMax }),
  })
}
