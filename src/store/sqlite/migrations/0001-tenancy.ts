import type { Kysely, Migration } from 'kysely'

/** Accounts, their projects, and the projects' API keys. */
export const tenancy: Migration = { up }

async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('accounts')
    .addColumn('accountId', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('createdAtUtc', 'text', (column) => column.notNull())
    .execute()
  await db.schema
    .createTable('projects')
    .addColumn('projectId', 'text', (column) => column.primaryKey())
    .addColumn('accountId', 'text', (column) => column.notNull().references('accounts.accountId'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('galleryMode', 'text', (column) => column.notNull())
    .addColumn('createdAtUtc', 'text', (column) => column.notNull())
    .addUniqueConstraint('projects_name_in_account', ['accountId', 'name'])
    .execute()
  await db.schema
    .createTable('keys')
    .addColumn('keyId', 'text', (column) => column.primaryKey())
    .addColumn('projectId', 'text', (column) => column.notNull().references('projects.projectId'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('prefix', 'text', (column) => column.notNull())
    .addColumn('last4', 'text', (column) => column.notNull())
    .addColumn('hash', 'blob', (column) => column.notNull().unique())
    .addColumn('permissions', 'text', (column) => column.notNull())
    .addColumn('createdAtUtc', 'text', (column) => column.notNull())
    .addColumn('expiresAtUtc', 'text')
    .addColumn('revokedAtUtc', 'text')
    .addColumn('lastUsedAtUtc', 'text')
    .execute()
  await db.schema.createIndex('keys_by_project').on('keys').column('projectId').execute()
}
