import { readStatements } from '../../migrations.ts'
import { fromSqlite } from './from-sqlite.ts'
import { ofProject, ofWebhook, secure } from './row-security.ts'

/**
 * Webhooks, their signing secrets and the outbox of their events. Triggers add the events of budgets,
 * so that they also follow from the single statement that settles a call.
 */
export const statements: readonly string[] = [
  ...fromSqlite('006-webhooks'),
  ...readStatements(new URL('webhooks.sql', import.meta.url)),
  ...secure(ofProject, 'webhooks', 'webhookDeliveries'),
  ...secure(ofWebhook, 'webhookSecrets'),
]
