import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../ledger.test.ts'))
