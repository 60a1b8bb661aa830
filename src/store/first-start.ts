import type { Database } from './database.ts'
import { createKey } from './keys.ts'
import { createAccount, createProject, firstAccountId } from './projects.ts'

export type FirstStart = {
  readonly accountId: string
  readonly projectId: string
  /** The only time it is ever seen. */
  readonly key: string
}

/**
 * Makes the account, the project `default` and one key, all or nothing, if there are none yet.
 *
 * @returns undefined at every later start.
 */
export function firstStart(db: Database, now: Date): Promise<FirstStart | undefined> {
  return db.transaction().execute(async (transaction) => {
    if (await firstAccountId(transaction)) return undefined
    const accountId = await createAccount(transaction, 'default', now)
    const project = { accountId, name: 'default', galleryMode: 'isolated' } as const
    const { projectId } = await createProject(transaction, project, now)
    const wanted = { projectId, name: 'first key', permissions: ['*'], expiresAtUtc: null }
    const { key } = await createKey(transaction, wanted, now)
    return { accountId, projectId, key }
  })
}
