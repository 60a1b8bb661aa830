import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gallery-crops.test.ts'))
