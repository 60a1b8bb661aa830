import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gate-limit.test.ts'))
