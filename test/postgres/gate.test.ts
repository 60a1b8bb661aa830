import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'gate/api-keys': () => import('../gate/api-keys.test.ts'),
  'gate/billing-and-replay': () => import('../gate/billing-and-replay.test.ts'),
  'gate/billing-switch': () => import('../gate/billing-switch.test.ts'),
  'gate/hourly-counts': () => import('../gate/hourly-counts.test.ts'),
  'gate/rate-limit': () => import('../gate/rate-limit.test.ts'),
  'gate/transactional-effects': () => import('../gate/transactional-effects.test.ts'),
})
