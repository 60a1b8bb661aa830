import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../console-session.test.ts'))
