import { onPgvector } from '../engine.ts'

await onPgvector(() => import('../gallery-crops.test.ts'))
