/** The main module of the process that checks the models at every start. */
import { verifyModels } from './verify.ts'

const mismatches = await verifyModels(process.argv[2] ?? '')
process.stdout.write(JSON.stringify(mismatches))
