import { runOnPgvector } from '../../support/database/engine.ts'

await runOnPgvector(() => import('../../gallery/removed-faces.test.ts'))
