import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gallery/subject-search.test.ts'))
