import { onPgvector } from '../engine.ts'

await onPgvector(() => import('../gallery-actions.test.ts'))
