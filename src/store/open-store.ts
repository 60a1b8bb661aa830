import type { StoreLocation, StoreOptions } from './database.ts'
import { traceStore } from './trace-store.ts'

/**
 * Opens a database and migrates it to the current schema.
 *
 * @param location a text is the data folder of an SQLite database.
 */
export async function openStore(location: StoreLocation | string, options: StoreOptions = {}) {
  return traceStore(await openUntraced(location, options))
}

/** Loads only the engine that is used, so that commands start quickly. */
async function openUntraced(location: StoreLocation | string, options: StoreOptions) {
  const { dataDir, databaseUrl, connectionsMax } =
    typeof location === 'string' ? { dataDir: location, databaseUrl: '' } : location
  if (databaseUrl === '') {
    const { openSqliteStore } = await import('./sqlite/open-sqlite-store.ts')
    return openSqliteStore(dataDir, options)
  }
  const { openPostgresStore } = await import('./postgres/open-postgres-store.ts')
  return openPostgresStore(databaseUrl, {
    ...options,
    ...(connectionsMax !== undefined && { connectionsMax }),
  })
}
