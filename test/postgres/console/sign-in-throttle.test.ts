import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../console/sign-in-throttle.test.ts'))
