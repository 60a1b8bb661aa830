import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../call-hours.test.ts'))
