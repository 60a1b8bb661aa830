import { readConfig } from '../../config.ts'
import { modelsFolderOf } from '../../models-in-use.ts'

/** The folder of models of the environment. */
export function modelsFolder(): string {
  return modelsFolderOf(readConfig(process.env))
}
