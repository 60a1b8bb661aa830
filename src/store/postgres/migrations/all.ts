import { sqlMigrations } from '../../migrations.ts'
import { tenancy } from './001-tenancy.ts'
import { money } from './002-money.ts'
import { calls } from './003-calls.ts'
import { galleries } from './004-galleries.ts'
import { consoleUsers } from './005-console.ts'
import { webhooks } from './006-webhooks.ts'
import { servers } from './007-servers.ts'

/**
 * All migrations in their order. Kysely records in the database which ones were applied. A new
 * migration only adds to the schema, so that older servers can run beside newer ones.
 */
export const migrations = sqlMigrations({
  '001-tenancy': tenancy,
  '002-money': money,
  '003-calls': calls,
  '004-galleries': galleries,
  '005-console': consoleUsers,
  '006-webhooks': webhooks,
  '007-servers': servers,
})
