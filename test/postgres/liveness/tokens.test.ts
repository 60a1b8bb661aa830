import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../liveness/tokens.test.ts'))
