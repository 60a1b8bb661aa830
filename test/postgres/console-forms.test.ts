import { onPostgres } from '../engine.ts'

await onPostgres(() => import('../console-forms.test.ts'))
