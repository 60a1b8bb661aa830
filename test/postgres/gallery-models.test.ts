import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gallery-models.test.ts'))
