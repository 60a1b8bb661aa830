import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../console/calibration-measurement.test.ts'))
