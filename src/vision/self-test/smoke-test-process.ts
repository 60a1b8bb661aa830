/** Entry module of the process that tests one installed model. */
import type { InstalledModel } from '../../models/model-set.ts'
import { smokeTest } from './self-test.ts'

// Written by the parent process from a validated manifest.
const model = JSON.parse(process.argv[2] ?? '') as InstalledModel
process.stdout.write(JSON.stringify({ fault: await smokeTest(model) }))
