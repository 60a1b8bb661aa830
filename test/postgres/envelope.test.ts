import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../envelope.test.ts'))
