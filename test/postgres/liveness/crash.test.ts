import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../liveness/crash.test.ts'))
