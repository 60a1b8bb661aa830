import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gallery-isolation.test.ts'))
