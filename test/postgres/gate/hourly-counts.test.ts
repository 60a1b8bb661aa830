import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gate/hourly-counts.test.ts'))
