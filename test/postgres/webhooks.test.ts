import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'webhooks/events': () => import('../webhooks/events.test.ts'),
  'webhooks/delivery': () => import('../webhooks/delivery.test.ts'),
  'webhooks/operators': () => import('../webhooks/operators.test.ts'),
})
