import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gallery/group-deletion.test.ts'))
