import { sql, type Selectable } from 'kysely'
import { hashApiKey, generateApiKey } from '../../lib/crypto/api-key.ts'
import { newId } from '../../lib/ids.ts'
import type { Database } from '../database.ts'
import {
  keySummaryOf,
  parsePermissions,
  type KeyIdentity,
  type KeySummary,
  type KeyState,
} from './keys.ts'
import type { KeyRow } from '../schema.ts'
import { switchesFromColumns, switchNames } from './switches.ts'
import type { ReadTx } from '../tx.ts'

export type KeyFilter = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly state?: KeyState | undefined
  readonly now: Date
  /** Where the page before ended. */
  readonly after?: Pick<Selectable<KeyRow>, 'createdAtUtc' | 'keyId'> | undefined
  readonly limit: number
}

export type KeyWithProject = KeySummary & { readonly projectName: string }

/** Keys that people hold, the newest first. */
export async function findKeys(
  reading: ReadTx,
  filter: KeyFilter,
): Promise<readonly KeyWithProject[]> {
  const { accountId, projectId, state, now, after } = filter
  let query = selectVisibleKeys(reading, accountId)
  if (projectId !== undefined) query = query.where('keys.projectId', '=', projectId)
  if (state !== undefined) query = query.where(stateIs(state, now.toISOString()))
  if (after)
    query = query.where((row) =>
      row(
        row.refTuple('keys.createdAtUtc', 'keyId'),
        '<',
        row.tuple(after.createdAtUtc, after.keyId),
      ),
    )
  const ordered = query.orderBy('keys.createdAtUtc', 'desc').orderBy('keyId', 'desc')
  return (await reading.run(ordered.limit(filter.limit))).map((row) => ({
    ...keySummaryOf(row, now),
    projectName: row.projectName,
  }))
}

function selectVisibleKeys(reading: ReadTx, accountId: string) {
  return reading.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .selectAll('keys')
    .select('projects.name as projectName')
    .where('accountId', '=', accountId)
    .where('isHidden', '=', 0)
}

type KeyLookup = { readonly accountId: string; readonly keyId: string; readonly now: Date }

/** One of them by its id. */
export async function findKey(
  reading: ReadTx,
  { accountId, keyId, now }: KeyLookup,
): Promise<KeyWithProject | undefined> {
  const [row] = await reading.run(selectVisibleKeys(reading, accountId).where('keyId', '=', keyId))
  return row && { ...keySummaryOf(row, now), projectName: row.projectName }
}

/** The states of `keyState`, as the database sees them. */
function stateIs(state: KeyState, nowUtc: string) {
  if (state === 'revoked') return sql<boolean>`"revokedAtUtc" is not null`
  const isOver = sql`"expiresAtUtc" is not null and "expiresAtUtc" <= ${nowUtc}`
  return state === 'expired'
    ? sql<boolean>`"revokedAtUtc" is null and ${isOver}`
    : sql<boolean>`"revokedAtUtc" is null and not (${isOver})`
}

/** Names of keys by their ids, the hidden ones among them. */
export async function keyNames(
  reading: ReadTx,
  accountId: string,
): Promise<ReadonlyMap<string, string>> {
  const query = reading.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.name'])
    .where('accountId', '=', accountId)
  return new Map((await reading.run(query)).map(({ keyId, name }) => [keyId, name]))
}

/** The key by which the console itself calls for a project; undefined before its first call. */
export async function findPlaygroundKey(
  reading: ReadTx,
  projectId: string,
): Promise<KeyIdentity | undefined> {
  const query = reading.build
    .selectFrom('keys')
    .innerJoin('projects', 'projects.projectId', 'keys.projectId')
    .select(['keyId', 'keys.projectId', 'accountId', 'galleryMode', 'permissions', ...switchNames])
    .where('keys.projectId', '=', projectId)
    .where('isHidden', '=', 1)
  const [found] = await reading.run(query)
  if (!found) return undefined
  const { keyId, accountId, galleryMode } = found
  const galleryId = galleryMode === 'shared' ? accountId : projectId
  return {
    keyId,
    projectId,
    accountId,
    galleryId,
    switches: switchesFromColumns(found),
    permissions: parsePermissions(found.permissions),
    state: 'active',
  }
}

/** Makes that key. Its text is forgotten at once: nobody can ever send it. */
export async function createPlaygroundKey(
  db: Database,
  projectId: string,
  now: Date,
): Promise<void> {
  const minted = generateApiKey('live')
  await db
    .insertInto('keys')
    .values({
      keyId: newId(),
      projectId,
      name: 'Console playground',
      prefix: 'fsk_live_',
      last4: '',
      hash: hashApiKey(minted),
      permissions: '["*"]',
      createdAtUtc: now.toISOString(),
      expiresAtUtc: null,
      isHidden: 1,
    })
    .execute()
}
