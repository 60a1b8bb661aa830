import { runOnPgvector } from '../../support/database/engine.ts'

await runOnPgvector(() => import('../../gallery/crops.test.ts'))
