import { onPgvector } from '../engine.ts'

await onPgvector(() => import('../gallery-isolation.test.ts'))
