import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../master-key.test.ts'))
