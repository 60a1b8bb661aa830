import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gate/api-keys.test.ts'))
