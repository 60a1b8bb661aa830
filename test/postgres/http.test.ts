import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'http/body-budget': () => import('../http/body-budget.test.ts'),
  'http/envelope': () => import('../http/envelope.test.ts'),
  'http/lists': () => import('../http/lists.test.ts'),
  'http/unstorable-text': () => import('../http/unstorable-text.test.ts'),
})
