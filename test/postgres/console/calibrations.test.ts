import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../console/calibrations.test.ts'))
