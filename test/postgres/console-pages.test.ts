import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../console-pages.test.ts'))
