import { onPgvector } from '../engine.ts'

await onPgvector(() => import('../gallery-deletion.test.ts'))
