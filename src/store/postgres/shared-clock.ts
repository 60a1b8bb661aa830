import { hostname } from 'node:os'
import { runAsAllAccounts } from '../../lib/account-context.ts'
import type { Clock, SteadyClock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { RemovalWatermark, Store } from '../database.ts'
import { deleteRemovals } from '../gallery/removals.ts'
import { prepare } from './connection/kysely-driver.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { type PostgresTransaction, transact } from './connection/transaction.ts'

/** A clock that all servers of a database share, see `SteadyClock`, and this server in their list. */
export type SharedClock = Awaited<ReturnType<typeof joinSharedClock>>

type SharedClockOptions = {
  readonly version: string
  /** Whether this process is a server. A command only reads the clock. */
  readonly isServer?: boolean
  /** Whether the server holds galleries in memory, from which it removes faces. */
  readonly hasGalleries?: boolean
  readonly log?: Pick<Log, 'warn'> | undefined
  /** A monotonic clock of this process, microseconds. */
  readonly monotonicUs?: () => number
  /** This machine's time of day, ms. */
  readonly nowMs?: () => number
}

const heartbeatMs = 5000

/** A server without a heartbeat for this long does not run; its row is deleted later. */
const serverTimeoutUs = 15_000_000

const databaseUsSql = '(extract(epoch from clock_timestamp()) * 1000000)::bigint'

/**
 * Returns the SQL condition that a server has a recent heartbeat by the database's clock. After that
 * clock was set back, a heartbeat in the future counts as recent.
 */
function isAliveSql(node: string): string {
  return `${databaseUsSql} - ${node}."dbUs" <= ${serverTimeoutUs}`
}

const serverRowExpiryUs = 3_600_000_000

/** The largest accepted difference between the clocks of two machines. */
const skewUsMax = 1_000_000

/** The largest correction per heartbeat towards the clock of the oldest server: 500 ppm. */
const correctionUsMax = 2500

/**
 * Joins the clock that the running servers share. It started as the database's time of day. A new
 * server takes the time over from a running one and continues with its own monotonic clock.
 * Therefore setting the clock of a machine or of the database does not change the shared clock. Small
 * differences in speed are corrected gradually.
 */
export async function joinSharedClock(pool: ConnectionPool, options: SharedClockOptions) {
  const { monotonicUs = () => performance.now() * 1000, nowMs = Date.now } = options
  const { version, log, isServer = true, hasGalleries = true } = options
  const self = { nodeId: newId(), host: hostname(), pid: process.pid, version, hasGalleries }
  const startedAtUtc = new Date(nowMs()).toISOString()
  let offsetUs = 0
  let timeOfDayOffsetUs = 0
  let lastUs = 0
  /** Whether no other server had a recent heartbeat when this one joined; false for a command. */
  let isFirstServer = false
  const now: SteadyClock = () => (lastUs = Math.max(lastUs, Math.floor(monotonicUs() + offsetUs)))
  /** The database's time of day at the last heartbeat, continued with a monotonic clock. */
  const timeOfDay: Clock = () => Math.floor((monotonicUs() + timeOfDayOffsetUs) / 1000)
  const beat = async (transaction: PostgresTransaction, isFirst: boolean): Promise<void> => {
    await lockNodes.run(transaction, {})
    const sentUs = monotonicUs()
    const rows = await selectPeers.all(transaction, { nodeId: self.nodeId })
    // The database read its clock about halfway between the request and the response.
    const middleUs = (sentUs + monotonicUs()) / 2
    timeOfDayOffsetUs = databaseTimeUs(rows) - middleUs
    if (isFirst) isFirstServer = isServer && !rows.some(({ isAlive }) => isAlive === true)
    const peer = findPeerTime(rows, nowMs() * 1000)
    if (isFirst) offsetUs = (peer?.us ?? databaseTimeUs(rows)) - middleUs
    else if (peer && peer.startedAtUtc < startedAtUtc) {
      const correctionUs = peer.us - (middleUs + offsetUs)
      offsetUs += Math.min(correctionUsMax, Math.max(-correctionUsMax, correctionUs))
    }
    if (!isServer) return
    const seenAtUtc = new Date(nowMs()).toISOString()
    await upsertNode.run(transaction, { ...self, startedAtUtc, seenAtUtc, steadyUs: now() })
    await deleteStaleNodes.run(transaction, { expiryUs: serverRowExpiryUs })
  }
  await writeNodes(pool, (transaction) => beat(transaction, true))
  const joined = { ...self, isFirstServer, now, timeOfDay }
  if (!isServer) return { ...joined, close: () => Promise.resolve() }
  const heartbeats = setInterval(() => {
    writeNodes(pool, (transaction) => beat(transaction, false)).catch((error: unknown) =>
      log?.warn({ err: error }, 'a heartbeat failed'),
    )
  }, heartbeatMs)
  heartbeats.unref()
  return {
    ...joined,
    /** Removes this server from the list. */
    close: async () => {
      clearInterval(heartbeats)
      const deletion = writeNodes(pool, (transaction) => deleteNode.run(transaction, self))
      await deletion.catch(() => undefined)
    },
  }
}

/** The table of servers has no account. */
function writeNodes<T>(
  pool: ConnectionPool,
  job: (transaction: PostgresTransaction) => Promise<T>,
): Promise<T> {
  return runAsAllAccounts(() => transact(pool, { access: 'write' }, job))
}

const lockNodes = prepare(`select pg_advisory_xact_lock(hashtextextended('nodes', 0))`)

/** Each row contains the database's time. Without other servers there is one row with it alone. */
const selectPeers = prepare<PeerRow>(
  `select ${databaseUsSql} as "nowUs", "steadyUs", "dbUs", "seenAtUtc", "startedAtUtc",
     ${isAliveSql('nodes')} as "isAlive"
   from (values (1)) as here left join nodes on "nodeId" <> :nodeId
   order by "startedAtUtc", "nodeId"`,
)
const upsertNode = prepare(
  `insert into nodes ("nodeId", host, pid, version, "hasGalleries", "startedAtUtc", "steadyUs",
     "dbUs", "seenAtUtc")
   values (:nodeId, :host, :pid, :version, :hasGalleries, :startedAtUtc, :steadyUs,
     ${databaseUsSql}, :seenAtUtc)
   on conflict ("nodeId") do update set "steadyUs" = excluded."steadyUs", "dbUs" = excluded."dbUs",
     "seenAtUtc" = excluded."seenAtUtc"`,
)
const deleteStaleNodes = prepare(
  `delete from nodes where abs("dbUs" - ${databaseUsSql}) > :expiryUs`,
)
const deleteNode = prepare('delete from nodes where "nodeId" = :nodeId')

type PeerRow = { readonly nowUs: number } & (
  | PeerClock
  | { readonly [name in keyof PeerClock]: null }
)
type PeerClock = {
  readonly steadyUs: number
  readonly dbUs: number
  readonly seenAtUtc: string
  readonly startedAtUtc: string
  readonly isAlive: boolean
}

function databaseTimeUs(rows: readonly PeerRow[]): number {
  return rows[0]?.nowUs ?? Date.now() * 1000
}

/**
 * Returns the current shared time according to the oldest running server. The time since that
 * server's heartbeat is measured with the database's clock and with the machines' clocks. A clock that
 * was set gives an implausible value, which is ignored.
 */
function findPeerTime(rows: readonly PeerRow[], hereUs: number) {
  for (const row of rows) {
    if (row.steadyUs === null) continue
    const agesUs = [row.nowUs - row.dbUs, hereUs - Date.parse(row.seenAtUtc) * 1000]
    const plausible = agesUs.filter((us) => us >= -skewUsMax && us <= serverTimeoutUs)
    if (plausible.length > 0)
      return {
        us: row.steadyUs + Math.max(0, Math.min(...plausible)),
        startedAtUtc: row.startedAtUtc,
      }
  }
  return undefined
}

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
