import { onPgvector } from '../engine.ts'

await onPgvector(() => import('../gallery-models.test.ts'))
