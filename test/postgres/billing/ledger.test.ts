import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../billing/ledger.test.ts'))
