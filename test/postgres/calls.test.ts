import { runOnPostgres } from '../support/database/engine.ts'

runOnPostgres([
  'billing/ledger',
  'billing/ledger-model',
  'gate/api-keys',
  'gate/billing-and-replay',
  'gate/billing-switch',
  'gate/hourly-counts',
  'gate/rate-limit',
  'gate/subject-permissions',
  'gate/redacted-replays',
  'gate/stored-responses',
  'gate/transactional-effects',
  'http/errors/error-details',
  'http/lists',
  'http/unstorable-text',
  'liveness/challenges',
  'liveness/limits',
  'liveness/tokens',
  'webhooks/delivery',
  'webhooks/events',
  'webhooks/operators',
])
