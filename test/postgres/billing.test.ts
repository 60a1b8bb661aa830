import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres({
  'billing/ledger-model': () => import('../billing/ledger-model.test.ts'),
  'billing/ledger': () => import('../billing/ledger.test.ts'),
})
