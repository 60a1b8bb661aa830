import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../http/unstorable-text.test.ts'))
