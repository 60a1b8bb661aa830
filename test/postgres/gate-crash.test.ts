import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gate-crash.test.ts'))
