import { newId } from '../lib/ids.ts'
import type { Database } from './database.ts'
import type { ProjectRow } from './schema.ts'

/** The oldest account, if the first start has happened. */
export async function firstAccountId(db: Database): Promise<string | undefined> {
  const row = await db
    .selectFrom('accounts')
    .select('accountId')
    .orderBy('createdAtUtc')
    .limit(1)
    .executeTakeFirst()
  return row?.accountId
}

export async function createAccount(db: Database, name: string, now: Date): Promise<string> {
  const accountId = newId()
  await db
    .insertInto('accounts')
    .values({ accountId, name, createdAtUtc: now.toISOString() })
    .execute()
  return accountId
}

export async function createProject(
  db: Database,
  project: Pick<ProjectRow, 'accountId' | 'name' | 'galleryMode'>,
  now: Date,
): Promise<ProjectRow> {
  const row = { ...project, projectId: newId(), createdAtUtc: now.toISOString() }
  await db.insertInto('projects').values(row).execute()
  return row
}
