import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gallery-deletion.test.ts'))
