import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gate-keys.test.ts'))
