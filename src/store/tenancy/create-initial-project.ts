import type { Database } from '../database.ts'
import { createKey } from './keys.ts'
import { createAccount, createProject, findFirstAccountId } from './projects.ts'

export type InitialProject = {
  readonly accountId: string
  readonly projectId: string
  /** The only time it is ever seen. */
  readonly key: string
}

/**
 * Makes the account, the project `default` and one key, if there are none yet. It belongs into a
 * transaction.
 *
 * @returns undefined at every later start.
 */
export async function createInitialProject(
  db: Database,
  now: Date,
): Promise<InitialProject | undefined> {
  if (await findFirstAccountId(db)) return undefined
  const accountId = await createAccount(db, 'default', now)
  const project = { accountId, name: 'default', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(db, project, now)
  const wanted = { projectId, name: 'first key', permissions: ['*'], expiresAtUtc: null }
  const { key } = await createKey(db, wanted, now)
  return { accountId, projectId, key }
}
