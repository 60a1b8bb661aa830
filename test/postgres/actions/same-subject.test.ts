import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../actions/same-subject.test.ts'))
