import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gallery-actions.test.ts'))
