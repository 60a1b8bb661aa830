import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'gate/crash': () => import('../gate/crash.test.ts'),
  'liveness/crash': () => import('../liveness/crash.test.ts'),
})
