/** The main module of the process that checks the models at every start. */
import type { ModelSet } from '../../models/model-set.ts'
import { selfTestModels } from './self-test.ts'

const [modelsFolder = '', set = ''] = process.argv.slice(2)
// The parent process wrote it, from manifests that it has checked.
const mismatches = await selfTestModels(modelsFolder, JSON.parse(set) as ModelSet)
process.stdout.write(JSON.stringify(mismatches))
