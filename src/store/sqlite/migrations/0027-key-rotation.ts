import { sql, type Kysely, type Migration } from 'kysely'

/**
 * The secret of a key before its last rotation, which stays valid until `formerEndsAtUtc`, and an index
 * for the usage of a key.
 */
export const keyRotation: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'alter table keys add column rotatedAtUtc text',
  'alter table keys add column formerHash blob',
  'alter table keys add column formerLast4 text',
  'alter table keys add column formerEndsAtUtc text',
  'alter table keys add column formerLastUsedAtUtc text',
  'create unique index keys_by_former_hash on keys (formerHash) where formerHash is not null',
  'create index hours_by_key on callHours (keyId, hourMs)',
]
