/** Entry module of the process that tests one installed model. */
import type { InstalledModel } from '../../models/model-set.ts'
import { smokeTest } from './self-test.ts'

type SmokeTest = { readonly model: InstalledModel; readonly msMax?: number }

// Written by the parent process from a validated manifest.
const { model, msMax } = JSON.parse(process.argv[2] ?? '') as SmokeTest
process.stdout.write(JSON.stringify({ fault: await smokeTest(model, undefined, msMax) }))
