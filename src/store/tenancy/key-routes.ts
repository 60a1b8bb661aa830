import type { Database } from '../schema.ts'

/**
 * Lists the hashes of all keys and of their former secrets, also of revoked ones, whose calls get a
 * precise error, with the account by which calls are routed. Keys of frozen projects are left out.
 *
 * @param accountId undefined: of all accounts.
 */
export async function listKeyRoutes(db: Database, accountId: string | undefined) {
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
