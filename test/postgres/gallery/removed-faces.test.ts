import { runOnPostgres } from '../../support/database/engine.ts'

await runOnPostgres(() => import('../../gallery/removed-faces.test.ts'))
