import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../actions/enroll-pictures.test.ts'))
