import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gate/rate-limit.test.ts'))
