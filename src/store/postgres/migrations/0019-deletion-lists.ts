import { sql, type Kysely, type Migration } from 'kysely'

/** Indexes for the deletion records of all galleries of an account, and of one subject. */
export const deletionLists: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  'create index deletions_of_subject on deletions ("subjectId")',
  'create index deletions_of_tenant_by_external_id on deletions ("tenantId", "externalId", seq)',
  'create index deletions_of_tenant_by_time on deletions ("tenantId", "deletedAtUtc")',
]
