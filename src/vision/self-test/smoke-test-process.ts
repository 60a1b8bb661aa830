/** The main module of the process that tries one installed model. */
import type { InstalledModel } from '../../models/model-set.ts'
import { smokeTest } from './smoke-test.ts'

// The parent process wrote it, from a manifest that it has checked.
const model = JSON.parse(process.argv[2] ?? '') as InstalledModel
process.stdout.write(JSON.stringify({ fault: await smokeTest(model) }))
