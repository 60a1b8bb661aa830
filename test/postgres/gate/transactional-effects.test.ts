import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gate/transactional-effects.test.ts'))
