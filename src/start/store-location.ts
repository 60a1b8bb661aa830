import type { Config } from '../config.ts'
import type { StoreLocation } from '../store/database.ts'

/** Returns the location of the database that a configuration names. */
export function storeLocationOf(
  config: Pick<Config, 'DATA_DIR' | 'DATABASE_URL' | 'DATABASE_CONNECTIONS_MAX'>,
): StoreLocation {
  return {
    dataDir: config.DATA_DIR,
    databaseUrl: config.DATABASE_URL,
    connectionsMax: config.DATABASE_CONNECTIONS_MAX,
  }
}
