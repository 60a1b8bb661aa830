import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../http/body-budget.test.ts'))
