import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../actions/names-and-groups.test.ts'))
