import path from 'node:path'
import { readConfig } from '../../config.ts'

/** The folder of models of the environment's DATA_DIR. */
export function modelsFolder(): string {
  return path.join(readConfig(process.env).DATA_DIR, 'models')
}
