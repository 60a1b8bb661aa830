import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../console/forms.test.ts'))
