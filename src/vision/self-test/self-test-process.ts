/** Entry module of the process that tests all models when the server starts. */
import { selfTestModels, type SelfTestOptions } from './self-test.ts'

// Written by the parent process from validated manifests.
const options = JSON.parse(process.argv[2] ?? '') as SelfTestOptions
process.stdout.write(JSON.stringify(await selfTestModels(options)))
