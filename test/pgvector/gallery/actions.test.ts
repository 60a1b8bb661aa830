import { runOnPgvector } from '../../support/database/engine.ts'

await runOnPgvector(() => import('../../gallery/actions.test.ts'))
