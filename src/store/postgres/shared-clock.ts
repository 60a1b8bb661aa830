import { hostname } from 'node:os'
import type { Clock, SteadyClock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'
import type { Log } from '../../lib/log.ts'
import type { ConnectionPool } from './connection/pool.ts'
import { prepare } from './connection/statement.ts'
import { transact } from './connection/transaction.ts'

/** A clock that all servers on one database go by, as `SteadyClock` describes one. */
export type SharedClock = {
  readonly now: SteadyClock
  /** The database's time of day, as of the last beat, and on from there by a clock that nobody can set. */
  readonly timeOfDay: Clock
  /** Takes this server off the list. */
  readonly close: () => Promise<void>
}

export type SharedClockOptions = {
  readonly version: string
  /** Whether this process is a server; a command only looks at the clock. */
  readonly isServer?: boolean
  readonly log?: Pick<Log, 'warn'> | undefined
  /** Microseconds by a clock of this process that nobody can set. */
  readonly monotonicUs?: () => number
  /** This machine's time of day, ms. */
  readonly nowMs?: () => number
}

const heartbeatMs = 5000

/** A server that was not seen for so long is gone; its row goes a while later. */
const serverTimeoutUs = 15_000_000
const serverRowExpiryUs = 3_600_000_000

/** How far the clocks of two machines may be apart for one to be held against the other. */
const skewUsMax = 1_000_000

/** How far a clock is moved at one beat, towards that of the server that runs longest: 500 ppm. */
const correctionUsMax = 2500

/**
 * Joins the time that the servers at work go by. It was some database's time of day once; since then
 * it is handed on: whoever starts takes it over from a server that runs, and goes on by its own
 * monotonic clock. So neither the clock of a machine nor that of the database moves it when it is set.
 * The small differences of their pace are made up little by little.
 */
export async function joinSharedClock(
  pool: ConnectionPool,
  options: SharedClockOptions,
): Promise<SharedClock> {
  const { version, log, isServer = true, monotonicUs = processUs, nowMs = Date.now } = options
  const self = { nodeId: newId(), host: hostname(), pid: process.pid, version }
  const startedAtUtc = new Date(nowMs()).toISOString()
  let offsetUs = 0
  let todayUs = 0
  let lastUs = 0
  const now = (): number => (lastUs = Math.max(lastUs, Math.floor(monotonicUs() + offsetUs)))
  const timeOfDay = (): number => Math.floor((monotonicUs() + todayUs) / 1000)
  const beat = (isFirst: boolean): Promise<void> =>
    transact(pool, { access: 'write' }, async (running) => {
      await lockNodes.run(running, {})
      const askedUs = monotonicUs()
      const rows = await selectPeers.all(running, { nodeId: self.nodeId })
      // The answer was true about halfway between question and answer.
      const halfUs = (askedUs + monotonicUs()) / 2
      todayUs = databaseTimeUs(rows) - halfUs
      const reached = peerTimeOf(rows, nowMs() * 1000)
      if (isFirst) offsetUs = (reached?.us ?? databaseTimeUs(rows)) - halfUs
      else if (reached && reached.startedAtUtc < startedAtUtc)
        offsetUs += clamp(reached.us - (halfUs + offsetUs), correctionUsMax)
      if (!isServer) return
      const seenAtUtc = new Date(nowMs()).toISOString()
      await upsertNode.run(running, { ...self, startedAtUtc, seenAtUtc, steadyUs: now() })
      await deleteStaleNodes.run(running, { forgottenUs: serverRowExpiryUs })
    })
  await beat(true)
  if (!isServer) return { now, timeOfDay, close: () => Promise.resolve() }
  const beating = setInterval(() => {
    beat(false).catch((error: unknown) => log?.warn({ err: error }, 'a heartbeat failed'))
  }, heartbeatMs)
  beating.unref()
  return {
    now,
    timeOfDay,
    close: async () => {
      clearInterval(beating)
      const leave = transact(pool, { access: 'write' }, (running) => deleteNode.run(running, self))
      await leave.catch(() => undefined)
    },
  }
}

function processUs(): number {
  return performance.now() * 1000
}

const lockNodes = prepare(`select pg_advisory_xact_lock(hashtextextended('nodes', 0))`)

/** The database's own time comes in every row, and alone when there is none. */
const selectPeers = prepare<PeerRow>(
  `select (extract(epoch from clock_timestamp()) * 1000000)::bigint as "nowUs", "steadyUs", "dbUs",
     "seenAtUtc", "startedAtUtc"
   from (values (1)) as here left join nodes on "nodeId" <> :nodeId
   order by "startedAtUtc", "nodeId"`,
)
const upsertNode = prepare(
  `insert into nodes ("nodeId", host, pid, version, "startedAtUtc", "steadyUs", "dbUs", "seenAtUtc")
   values (:nodeId, :host, :pid, :version, :startedAtUtc, :steadyUs,
     (extract(epoch from clock_timestamp()) * 1000000)::bigint, :seenAtUtc)
   on conflict ("nodeId") do update set "steadyUs" = excluded."steadyUs", "dbUs" = excluded."dbUs",
     "seenAtUtc" = excluded."seenAtUtc"`,
)
const deleteStaleNodes = prepare(
  `delete from nodes where abs("dbUs" - (extract(epoch from clock_timestamp()) * 1000000)::bigint)
     > :forgottenUs`,
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
}

function databaseTimeUs(rows: readonly PeerRow[]): number {
  return rows[0]?.nowUs ?? Date.now() * 1000
}

/**
 * Where the line of the server that runs longest has come to by now. How long ago it was seen says
 * the database's clock; should that have been set, the machines' own.
 */
function peerTimeOf(rows: readonly PeerRow[], hereUs: number) {
  for (const row of rows) {
    if (row.steadyUs === null) continue
    const agesUs = [row.nowUs - row.dbUs, hereUs - Date.parse(row.seenAtUtc) * 1000]
    const credible = agesUs.filter((us) => us >= -skewUsMax && us <= serverTimeoutUs)
    if (credible.length > 0)
      return {
        us: row.steadyUs + Math.max(0, Math.min(...credible)),
        startedAtUtc: row.startedAtUtc,
      }
  }
  return undefined
}

function clamp(value: number, most: number): number {
  return Math.min(most, Math.max(-most, value))
}
