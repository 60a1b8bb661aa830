import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../ledger-model.test.ts'))
