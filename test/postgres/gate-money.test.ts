import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../gate-money.test.ts'))
