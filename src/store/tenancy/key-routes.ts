import type { Database, KeyRow } from '../schema.ts'

/** The hash of a secret of a key, and the account by which its calls are routed. */
export type KeyRoute = Pick<KeyRow, 'keyId' | 'hash'> & { readonly accountId: string }

/**
 * Lists the hashes of all keys and of their former secrets, also of revoked ones, whose calls get a
 * precise error. Keys of frozen projects are left out.
 *
 * @param accountId undefined: of all accounts.
 */
export async function listKeyRoutes(
  db: Database,
  accountId: string | undefined,
): Promise<readonly KeyRoute[]> {
  let query = db
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'hash', 'formerHash', 'accountId'])
    .where('isFrozen', '=', 0)
    .where('isHidden', '=', 0)
    .orderBy('keyId')
  if (accountId !== undefined) query = query.where('accountId', '=', accountId)
  return (await query.execute()).flatMap(({ formerHash, ...route }) =>
    formerHash === null ? [route] : [route, { ...route, hash: formerHash }],
  )
}
