import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gate-effect.test.ts'))
