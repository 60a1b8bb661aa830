import path from 'node:path'
import { readConfig, type Config } from '../config.ts'
import { modelsFolderOf } from '../start/store-location.ts'

/** Returns the settings of the environment with absolute paths, so that messages name files in full. */
export function readSettings(environment: NodeJS.ProcessEnv = process.env): Config {
  const config = readConfig(environment)
  const resolve = (file: string): string => (file === '' ? '' : path.resolve(file))
  return {
    ...config,
    DATA_DIR: path.resolve(config.DATA_DIR),
    MODELS_DIR: resolve(config.MODELS_DIR),
    MASTER_KEY_FILE: resolve(config.MASTER_KEY_FILE),
  }
}

/** The models folder of the environment. */
export function modelsFolder(): string {
  return modelsFolderOf(readSettings())
}
