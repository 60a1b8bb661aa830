import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gallery/search/subject-search.test.ts'))
