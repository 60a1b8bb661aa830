import path from 'node:path'
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

/** Keep the file on another disk than the database: neither backup alone can then be decrypted. */
export function masterKeyPath(config: Pick<Config, 'MASTER_KEY_FILE' | 'DATA_DIR'>): string {
  return config.MASTER_KEY_FILE || path.join(config.DATA_DIR, 'master.key')
}

/** MODELS_DIR can be part of a container image: then a start writes and converts nothing. */
export function modelsFolderOf(config: Pick<Config, 'MODELS_DIR' | 'DATA_DIR'>): string {
  return config.MODELS_DIR || path.join(config.DATA_DIR, 'models')
}
