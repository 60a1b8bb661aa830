import { readConfig } from '../../config.ts'
import { modelsFolderOf } from '../../start/active-models.ts'

/** The folder of models of the environment. */
export function modelsFolder(): string {
  return modelsFolderOf(readConfig(process.env))
}
