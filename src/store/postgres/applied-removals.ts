import { runAsAllAccounts } from '../../lib/account-context.ts'
import type { RemovalWatermark, Store } from '../database.ts'
import { deleteRemovals } from '../gallery/removals.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare } from './connection/kysely-driver.ts'
import { transact, type PostgresTransaction } from './connection/transaction.ts'
import { isAliveSql, type SharedClock } from './shared-clock.ts'

type AppliedRemovalsDeps = {
  readonly pool: ConnectionPool
  readonly write: Store['write']
  readonly self: Pick<SharedClock, 'nodeId' | 'hasGalleries'>
}

/**
 * Returns `Store.confirmRemovals`. Each server reports up to which change of a gallery it has applied
 * the removals. A record is deleted when every server with a recent heartbeat has applied it. A server
 * without one may miss deleted records: `galleries.removalsDeletedTo` shows that, and it then reloads
 * the gallery.
 */
export function createConfirmRemovals(deps: AppliedRemovalsDeps): Store['confirmRemovals'] {
  const { pool, write, self } = deps
  const runLocked = <T>(job: (transaction: PostgresTransaction) => Promise<T>): Promise<T> =>
    transact(pool, { access: 'write' }, async (transaction) => {
      await lockReports.run(transaction, {})
      return job(transaction)
    })
  const confirm = async (applied: readonly RemovalWatermark[]): Promise<void> => {
    const galleryIds = applied.map(({ galleryId }) => galleryId)
    const sequences = applied.map(({ sequence }) => sequence)
    const watermarks = { galleryIds, sequences, nodeId: self.nodeId }
    const deletable = await runLocked(async (transaction) => {
      if (self.hasGalleries) await upsertApplied.run(transaction, watermarks)
      return selectDeletable.all(transaction, watermarks)
    })
    // One transaction each: a gallery with a long transaction delays only its own records.
    for (const watermark of deletable) await write((tx) => deleteRemovals(tx, watermark))
    if (deletable.length > 0)
      await runLocked((transaction) => deleteOldReports.run(transaction, watermarks))
  }
  return (applied) => runAsAllAccounts(() => confirm(applied))
}

/** Reports run one by one: a report is never deleted for a removal that it already covers. */
const lockReports = prepare(`select pg_advisory_xact_lock(hashtextextended('removals', 0))`)

const upsertApplied = prepare(
  `insert into "appliedRemovals" ("nodeId", "galleryId", sequence)
   select :nodeId, watermark.* from unnest(:galleryIds::text[], :sequences::bigint[]) as watermark
   where exists (select from nodes where "nodeId" = :nodeId)
   on conflict ("nodeId", "galleryId") do update set sequence = excluded.sequence`,
)

/** The last change of each gallery that all running servers with galleries have applied. */
const selectDeletable = prepare<RemovalWatermark>(
  `with applied as (
     select watermark."galleryId", min(case when n."nodeId" is null then watermark.sequence
       else coalesce(a.sequence, 0) end) as sequence
     from unnest(:galleryIds::text[], :sequences::bigint[]) as watermark ("galleryId", sequence)
     left join nodes n on n."hasGalleries" and ${isAliveSql('n')}
     left join "appliedRemovals" a
       on a."nodeId" = n."nodeId" and a."galleryId" = watermark."galleryId"
     group by watermark."galleryId")
   select * from applied where exists (select from removals r
     where r."galleryId" = applied."galleryId" and r.sequence <= applied.sequence)`,
)

/** Reports of galleries without records are not needed. */
const deleteOldReports = prepare(
  `delete from "appliedRemovals" a where "galleryId" = any (:galleryIds::text[])
     and not exists (select from removals r where r."galleryId" = a."galleryId")`,
)
