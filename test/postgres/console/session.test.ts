import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../console/session.test.ts'))
