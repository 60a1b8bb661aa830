import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../http/envelope.test.ts'))
