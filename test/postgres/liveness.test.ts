import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'liveness/challenges': () => import('../liveness/challenges.test.ts'),
  'liveness/limits': () => import('../liveness/limits.test.ts'),
  'liveness/tokens': () => import('../liveness/tokens.test.ts'),
})
