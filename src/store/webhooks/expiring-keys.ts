import type { Selectable } from 'kysely'
import { type ReadTx, type Tx, sql } from '../database.ts'
import type { KeyRow } from '../schema.ts'
import { unfrozenProjects } from '../tenancy/projects.ts'

export type ExpiringKey = Pick<
  Selectable<KeyRow>,
  'keyId' | 'projectId' | 'name' | 'prefix' | 'last4' | 'createdAtUtc' | 'expiryNoticeDays'
> & { readonly expiresAtUtc: string | null }

export type ExpiringKeyFilter = {
  readonly nowUtc: string
  /** Keys that expire until then, of which no notice was given. */
  readonly untilUtc: string
  /** Keys without a notice of this many days or fewer. */
  readonly noticeDays: number
  readonly limit: number
}

/** SQLite evaluates it once for each project, and reads only keys of projects that it finds. */
const receivesNotices = sql<boolean>`exists (select 1 from webhooks
  where webhooks."projectId" = projects."projectId" and events like '%"key.expiring"%')`

/** Finds valid keys that expire soon, of projects with a webhook that receives `key.expiring`. */
export function findExpiringKeys(
  tx: ReadTx,
  { nowUtc, untilUtc, noticeDays, limit }: ExpiringKeyFilter,
): Promise<readonly ExpiringKey[]> {
  const query = tx.build
    .selectFrom('keys')
    .select(['keyId', 'projectId', 'name', 'prefix', 'last4', 'createdAtUtc', 'expiresAtUtc'])
    .select('expiryNoticeDays')
    .where('expiresAtUtc', '>', nowUtc)
    .where('expiresAtUtc', '<=', untilUtc)
    .where('revokedAtUtc', 'is', null)
    .where('isHidden', '=', 0)
    .where((row) =>
      row.or([row('expiryNoticeDays', 'is', null), row('expiryNoticeDays', '>', noticeDays)]),
    )
    .where('projectId', 'in', unfrozenProjects(tx).where(receivesNotices))
  return tx.run(query.orderBy('expiresAtUtc').limit(limit))
}

/** @returns false if another server has given the notice already. */
export async function recordExpiryNotice(
  tx: Tx,
  { keyId, expiryNoticeDays }: Pick<ExpiringKey, 'keyId' | 'expiryNoticeDays'>,
  noticeDays: number,
): Promise<boolean> {
  const query = tx.build
    .updateTable('keys')
    .set({ expiryNoticeDays: noticeDays })
    .where('keyId', '=', keyId)
    .where('expiryNoticeDays', expiryNoticeDays === null ? 'is' : '=', expiryNoticeDays)
  return (await tx.run(query.returning('keyId'))).length > 0
}
