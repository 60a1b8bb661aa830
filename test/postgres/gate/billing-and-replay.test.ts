import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gate/billing-and-replay.test.ts'))
