import { modelsFolderOf } from '../start/active-models.ts'
import { readSettings } from './read-settings.ts'

/** The models folder of the environment. */
export function modelsFolder(): string {
  return modelsFolderOf(readSettings())
}
