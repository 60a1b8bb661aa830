import { runOnPgvector } from '../../support/database/engine.ts'

await runOnPgvector(() => import('../../gallery/model-change.test.ts'))
