import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gallery/routes.test.ts'))
