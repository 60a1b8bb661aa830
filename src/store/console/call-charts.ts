import { setImmediate as nextTurn } from 'node:timers/promises'
import { unpackLatencies } from '../../lib/observability/latency-histogram.ts'
import type { ScoreHourRow } from '../console-schema.ts'
import { type ReadTx, type Store, sql } from '../database.ts'
import { accountProjectIds } from '../tenancy/projects.ts'
import { dayMs, hourMs } from '../../lib/clock.ts'

/** Selects the calls of a chart. `fromMs` and `toMs` are full hours, UTC. */
export type ChartFilter = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  readonly action?: string | undefined
  readonly fromMs: number
  readonly toMs: number
}

type ChartRange = Pick<ChartFilter, 'fromMs' | 'toMs' | 'keyId'>

/** A part of a chart has at most this many counts, or it is one hour. A count takes up to 0.01 ms. */
const partRowsMax = 2000

/**
 * Reads the rows of a chart in parts of an hour to a day, UTC; a step in several parts has rows in each.
 * On SQLite each read blocks the event loop: a day of 10,000 keys for more than a second. On PostgreSQL a
 * long range exceeds the time of a statement: 30 days of 60 busy keys have 260,000 rows.
 */
export async function* readChart<Filter extends ChartRange, Row>(
  { read }: Pick<Store, 'read'>,
  filter: Filter,
  find: (tx: ReadTx, part: Filter) => Promise<Iterable<Row>>,
): AsyncGenerator<readonly Row[]> {
  for (let { fromMs } = filter; fromMs < filter.toMs; await nextTurn()) {
    const dayEndMs = (Math.floor(fromMs / dayMs) + 1) * dayMs
    const day = { ...filter, fromMs, toMs: Math.min(dayEndMs, filter.toMs) }
    const { rows, toMs } = await read(async (tx) => {
      // The counts of one key have an index, and are few.
      const toMs = day.keyId === undefined ? await findPartEnd(tx, day) : day.toMs
      return { rows: await find(tx, { ...day, toMs }), toMs }
    })
    yield [...rows]
    fromMs = toMs
  }
}

/** Returns all rows of a chart at once. */
export async function readWholeChart<Filter extends ChartRange, Row>(
  ...chart: Parameters<typeof readChart<Filter, Row>>
): Promise<Row[]> {
  return (await Array.fromAsync(readChart(...chart))).flat()
}

async function findPartEnd(tx: ReadTx, { fromMs, toMs }: ChartRange): Promise<number> {
  const query = tx.build
    .selectFrom('callHours')
    .select('hourMs')
    .where('hourMs', '>=', fromMs)
    .where('hourMs', '<', toMs)
    .orderBy('hourMs')
  const [row] = await tx.run(query.limit(1).offset(partRowsMax))
  return row ? Math.min(toMs, Math.max(row.hourMs, fromMs + hourMs)) : toMs
}

/** The calls of one value in an hour or day; `atMs` is its start. */
export type CallCount = Awaited<ReturnType<typeof countCalls>>[number]

export type CallGrouping = 'action' | 'projectId' | 'keyId' | 'code' | 'outcome'

type CallCountOptions = {
  readonly by: CallGrouping
  readonly stepMs: number
  readonly ids?: readonly string[]
}

/**
 * Counts calls by time step and one column, in the order of time; by outcome only those with one. With
 * `ids`, the calls of all other values are counted as `others`.
 */
export function countCalls(
  tx: ReadTx,
  filter: ChartFilter,
  { by, stepMs, ids = [] }: CallCountOptions,
) {
  const column = sql<string>`${sql.ref(by)}`
  const idOrOthers = sql<string>`case when ${column} in (${sql.join(ids)}) then ${column} else 'others' end`
  const query = selectCallHours(tx, filter)
    .select([
      stepStartMs(stepMs).as('atMs'),
      (ids.length > 0 ? idOrOthers : column).as('id'),
      sql<number>`sum(calls)`.as('calls'),
      sql<number>`sum(billed)`.as('billed'),
      sql<bigint>`sum("costMicros")`.as('costMicros'),
      sql<bigint>`sum("meteredMicros")`.as('meteredMicros'),
    ])
    .groupBy(['atMs', 'id'])
    .orderBy('atMs')
  return tx.run(by === 'outcome' ? query.where('outcome', '<>', '') : query)
}

/** Returns the latencies of calls by time step, in the order of time. */
export async function findLatencies(tx: ReadTx, filter: ChartFilter, stepMs: number) {
  const query = selectCallHours(tx, filter)
    .select([
      stepStartMs(stepMs).as('atMs'),
      sql<Uint8Array>`"sumLatencies"(latencies)`.as('latencies'),
    ])
    .groupBy('atMs')
    .orderBy('atMs')
  const rows = await tx.run(query)
  return new Map(rows.map((row) => [row.atMs, unpackLatencies(row.latencies)]))
}

/** Sums what the calls of each key decided in each time step since `startMs`; without empty steps. */
export function sumDecisions(
  tx: ReadTx,
  filter: ChartFilter,
  { startMs, stepMs }: { readonly startMs: number; readonly stepMs: number },
) {
  const isCompared = sql`outcome in ('match', 'no_match', 'ambiguous')`
  const sum = (column: string, condition = sql`true`) =>
    sql<number>`sum(case when ${condition} then ${sql.ref(column)} else 0 end)`
  const query = selectCallHours(tx, filter)
    .select([
      'keyId',
      sql<number>`("hourMs" - ${sql.lit(startMs)}) / ${sql.lit(stepMs)}`.as('step'),
      sum('calls', sql`code = 'NO_FACE_FOUND'`).as('withoutFace'),
      sum('calls', sql`outcome <> ''`).as('decided'),
      sum('calls', isCompared).as('compared'),
      sum('calls', sql`outcome = 'no_match'`).as('unmatched'),
      sum('nearMisses', isCompared).as('nearMisses'),
      sum('calls', sql`outcome = 'match'`).as('matched'),
      sum('similaritySum', sql`outcome = 'match'`).as('similaritySum'),
      sum('rated').as('rated'),
      sum('qualitySum').as('qualitySum'),
    ])
    .groupBy(['keyId', 'step'])
  return tx.run(query)
}

/** Rounds an hour down to the start of its time step. */
function stepStartMs(stepMs: number) {
  return sql<number>`"hourMs" / ${sql.lit(stepMs)} * ${sql.lit(stepMs)}`
}

function selectCallHours(tx: ReadTx, filter: ChartFilter) {
  const { accountId, projectId, keyId, action, fromMs, toMs } = filter
  const projects = accountProjectIds(tx.build, accountId)
  let query = tx.build
    .selectFrom('callHours')
    .where('hourMs', '>=', fromMs)
    .where('hourMs', '<', toMs)
    .where('projectId', 'in', projects)
  if (projectId !== undefined) query = query.where('projectId', '=', projectId)
  if (keyId !== undefined) query = query.where('keyId', '=', keyId)
  if (action !== undefined) query = query.where('action', '=', action)
  return query
}

export type ScoreFilter = Pick<ChartFilter, 'accountId' | 'projectId' | 'fromMs' | 'toMs'> &
  Pick<ScoreHourRow, 'kind'>

/** Counts scores in bins of 0.02, the lowest first. Empty bins are left out. */
export function countScores(tx: ReadTx, filter: ScoreFilter) {
  const { accountId, projectId, kind, fromMs, toMs } = filter
  const projects = accountProjectIds(tx.build, accountId)
  const query = tx.build
    .selectFrom('scoreHours')
    .select(['bin', sql<number>`sum(count)`.as('count'), sql<number>`sum(matched)`.as('matched')])
    .where('projectId', 'in', projectId ? projects.where('projectId', '=', projectId) : projects)
    .where('kind', '=', kind)
    .where('hourMs', '>=', fromMs)
    .where('hourMs', '<', toMs)
    .groupBy('bin')
    .orderBy('bin')
  return tx.run(query)
}
