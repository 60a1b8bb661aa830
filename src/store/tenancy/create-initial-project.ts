import { defaultKeyExpiry } from '../../lib/limits/key-limits.ts'
import type { Database } from '../schema.ts'
import { createKey } from './keys.ts'
import { createAccount, createProject, findFirstAccountId } from './projects.ts'

export type InitialProject = NonNullable<Awaited<ReturnType<typeof createInitialProject>>>

/**
 * Creates the account, the project `default` and one key, unless an account exists. The caller must
 * run it in a transaction.
 *
 * @returns undefined at every later start.
 */
export async function createInitialProject(db: Database, now: Date) {
  if (await findFirstAccountId(db)) return undefined
  const accountId = await createAccount(db, 'default', now)
  const project = { accountId, name: 'default', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(db, project, now)
  const newKey = { projectId, name: 'first key', permissions: ['*'] }
  const { key } = await createKey(db, { ...newKey, expiresAtUtc: defaultKeyExpiry(now) }, now)
  return {
    accountId,
    projectId,
    /** The key's text, which is not stored. */
    key,
  }
}
