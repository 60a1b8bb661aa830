import type { Selectable } from 'kysely'
import type { ListCount } from '../../lib/limits/list-limits.ts'
import { type ReadTx, dialectOf, sql } from '../database.ts'
import * as keys from './keys.ts'
import type { Database, KeyRow } from '../schema.ts'
import { galleryIdOf } from './projects.ts'
import { switchNames } from './switches.ts'
import { countListed, selectPage } from '../lists.ts'

export type KeyFilter = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly state?: keys.KeyState | undefined
  readonly now: Date
  /** By default the newest first. */
  readonly sort?: KeySort | undefined
  /** The last key of the previous page. */
  readonly after?: (Partial<KeySortValues> & Pick<Selectable<KeyRow>, 'keyId'>) | undefined
  readonly limit: number
}

/** The order of keys; keys with equal values are ordered by their ids. */
export type KeySort = {
  readonly by: 'createdAtUtc' | 'name' | 'expiresAtUtc' | 'lastUsedAtUtc'
  readonly isDescending: boolean
}

type KeySortValues = Pick<Selectable<KeyRow>, KeySort['by']>

/**
 * Finds keys, by default the newest first. Keys of the playground and of deleted projects are left out.
 */
export async function findKeys(tx: ReadTx, filter: KeyFilter): Promise<readonly keys.KeySummary[]> {
  const { now, after, limit } = filter
  const { by, isDescending } = filter.sort ?? { by: 'createdAtUtc', isDescending: true }
  const page = selectPage(selectVisibleKeys(tx, filter), {
    columns: [keySortValue(by), 'keyId'],
    after: after && [after[by] ?? keyNulls[by], after.keyId],
    isDescending,
    limit,
  })
  return (await tx.run(page)).map((row) => keys.keySummaryOf(row, now))
}

/** A key that never expires follows all others, and a key that was never used precedes them. */
const keyNulls = {
  createdAtUtc: '',
  name: '',
  expiresAtUtc: '9999-12-31T23:59:59.999Z',
  lastUsedAtUtc: '',
} as const

function keySortValue(by: KeySort['by']) {
  const column = sql.ref(`keys.${by}`)
  return by === 'createdAtUtc'
    ? sql<string>`${column}`
    : sql<string>`coalesce(${column}, ${sql.lit(keyNulls[by])})`
}

/** Counts the keys of a list, at most `listCountMax`. */
export function countKeys(tx: ReadTx, filter: KeyConditions): Promise<ListCount> {
  return countListed(tx, selectVisibleKeys(tx, filter))
}

type KeyConditions = Omit<KeyFilter, 'sort' | 'after' | 'limit'>

function selectVisibleKeys(tx: ReadTx, { accountId, projectId, state, now }: KeyConditions) {
  let query = tx.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .selectAll('keys')
    .select('projects.name as projectName')
    .where('accountId', '=', accountId)
    .where('isHidden', '=', 0)
    .where('deletedAtUtc', 'is', null)
  if (projectId !== undefined) query = query.where('keys.projectId', '=', projectId)
  return state === undefined ? query : query.where(stateIs(state, now.toISOString()))
}

type KeyLookup = { readonly accountId: string; readonly keyId: string; readonly now: Date }

/** Finds one of these keys by its id. */
export async function findKey(tx: ReadTx, { keyId, ...filter }: KeyLookup) {
  const [row] = await tx.run(selectVisibleKeys(tx, filter).where('keyId', '=', keyId))
  return row && keys.keySummaryOf(row, filter.now)
}

/** The SQL condition of a state, with the rules of `keyState`. */
function stateIs(state: keys.KeyState, nowUtc: string) {
  if (state === 'revoked') return sql<boolean>`"revokedAtUtc" is not null`
  const isExpired = sql`"expiresAtUtc" is not null and "expiresAtUtc" <= ${nowUtc}`
  return state === 'expired'
    ? sql<boolean>`"revokedAtUtc" is null and ${isExpired}`
    : sql<boolean>`"revokedAtUtc" is null and not (${isExpired})`
}

/**
 * Returns the names of keys by their ids, including playground keys, the oldest first.
 *
 * @param accountId the only account; without it, all.
 * @param keyIds only these keys; by default all.
 */
export async function keyNames(tx: ReadTx, accountId?: string, keyIds?: readonly string[]) {
  if (keyIds?.length === 0) return new Map<string, string>()
  let query = tx.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.name'])
  const account = keyIds ? dialectOf(tx.build).withoutIndex('accountId') : sql.ref('accountId')
  if (accountId !== undefined) query = query.where(account, '=', accountId)
  if (keyIds) query = query.where('keyId', 'in', keyIds)
  const rows = await tx.run(query.orderBy('keys.createdAtUtc').orderBy('keyId'))
  return new Map(rows.map(({ keyId, name }) => [keyId, name]))
}

/** Finds the key of a project's playground; undefined before the playground's first call. */
export async function findPlaygroundKey(tx: ReadTx, projectId: string, now: Date) {
  const query = tx.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.projectId', 'accountId', 'galleryMode', 'permissions', ...switchNames])
    .select(['matchWebhooks', 'isFrozen', 'expiresAtUtc', 'revokedAtUtc'])
    .select(['formerEndsAtUtc', 'formerLastUsedAtUtc'])
    .where('keys.projectId', '=', projectId)
    .where('isHidden', '=', 1)
  const [found] = await tx.run(query)
  return found && keys.identityOf({ ...found, galleryId: galleryIdOf(found), isFormer: 0 }, now)
}

/** Creates the playground key. Its text is discarded, so that no caller can ever send it. */
export async function createPlaygroundKey(db: Database, projectId: string, now: Date) {
  const key = { projectId, name: 'Console playground', permissions: ['*'], expiresAtUtc: null }
  await keys.createKey(db, { ...key, last4: '', isHidden: 1 }, now)
}

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
