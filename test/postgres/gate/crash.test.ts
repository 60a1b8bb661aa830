import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gate/crash.test.ts'))
