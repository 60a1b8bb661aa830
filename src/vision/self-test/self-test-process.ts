/** Entry module of the process that tests all models when the server starts. */
import type { ModelSet } from '../../models/model-set.ts'
import { selfTestModels } from './self-test.ts'

const [modelsFolder = '', modelSetJson = ''] = process.argv.slice(2)
// Written by the parent process from validated manifests.
const mismatches = await selfTestModels(modelsFolder, JSON.parse(modelSetJson) as ModelSet)
process.stdout.write(JSON.stringify(mismatches))
