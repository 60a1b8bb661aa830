import { sql, type Kysely, type Migration } from 'kysely'
import { text } from './columns.ts'

/**
 * The secret of a key before its last rotation, which stays valid until `formerEndsAtUtc`, and an index
 * for the usage of a key.
 *
 * `findKeyBySecret` replaces `findKey`, which older servers continue to call: until they are updated,
 * they reject the former secret.
 */
export const keyRotation: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [...statements, findKeyBySecret]) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table keys add column "rotatedAtUtc" ${text}`,
  'alter table keys add column "formerHash" bytea',
  `alter table keys add column "formerLast4" ${text}`,
  `alter table keys add column "formerEndsAtUtc" ${text}`,
  `alter table keys add column "formerLastUsedAtUtc" ${text}`,
  `create unique index keys_by_former_hash on keys ("formerHash")
     where "formerHash" is not null`,
  'create index hours_by_key on "callHours" ("keyId", "hourMs")',
]

/** Finds the key of a call. Its account is unknown before, so the scope is all accounts. */
const findKeyBySecret = `
  create function "findKeyBySecret"("wanted" bytea) returns setof jsonb
  language plpgsql as $$
  begin
    perform set_config('facegate.account', '*', true);
    return query select to_jsonb(p) || jsonb_build_object('keyId', k."keyId",
        'permissions', k.permissions, 'expiresAtUtc', k."expiresAtUtc",
        'revokedAtUtc', k."revokedAtUtc", 'isFormer', k.hash <> "wanted",
        'formerEndsAtUtc', k."formerEndsAtUtc", 'formerLastUsedAtUtc', k."formerLastUsedAtUtc",
        'galleryId',
        case p."galleryMode" when 'shared' then p."accountId" else p."projectId" end)
      from keys k join projects p using ("projectId")
      where k.hash = "wanted" or k."formerHash" = "wanted";
  end $$`
