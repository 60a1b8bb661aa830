import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gallery-routes.test.ts'))
