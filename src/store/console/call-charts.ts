import { sql } from 'kysely'
import { unpackLatencies } from '../../lib/observability/latency-histogram.ts'
import type { LatencyHistogram } from '../../lib/observability/latency-histogram.ts'
import type { ScoreHourRow } from '../console-schema.ts'
import type { ReadTx } from '../tx.ts'

/** Which calls a chart counts. Its hours are whole: `fromMs` and `toMs` are borders of hours, UTC. */
export type ChartFilter = {
  readonly accountId: string
  readonly projectId?: string | undefined
  readonly keyId?: string | undefined
  readonly action?: string | undefined
  readonly fromMs: number
  readonly toMs: number
}

export type CallCount = {
  /** When the hour or day begins. */
  readonly atMs: number
  readonly id: string
  readonly calls: number
  readonly billed: number
  readonly costMicros: bigint
}

export type CallGrouping = 'action' | 'projectId' | 'keyId' | 'code'

/** Calls by a step of time and one respect, in the order of time. */
export function countCalls(
  reading: ReadTx,
  filter: ChartFilter,
  { by, stepMs }: { readonly by: CallGrouping; readonly stepMs: number },
): Promise<readonly CallCount[]> {
  const query = selectCallHours(reading, filter)
    .select([
      stepStartMs(stepMs).as('atMs'),
      `${by} as id`,
      sql<number>`sum(calls)`.as('calls'),
      sql<number>`sum(billed)`.as('billed'),
      sql<bigint>`sum("costMicros")`.as('costMicros'),
    ])
    .groupBy(['atMs', 'id'])
    .orderBy('atMs')
  return reading.run(query)
}

/** How long calls took, by a step of time, in its order. */
export async function findLatencies(
  reading: ReadTx,
  filter: ChartFilter,
  stepMs: number,
): Promise<ReadonlyMap<number, LatencyHistogram>> {
  const query = selectCallHours(reading, filter)
    .select([
      stepStartMs(stepMs).as('atMs'),
      sql<Uint8Array>`"sumLatencies"(latencies)`.as('latencies'),
    ])
    .groupBy('atMs')
    .orderBy('atMs')
  const rows = await reading.run(query)
  return new Map(rows.map((row) => [row.atMs, unpackLatencies(row.latencies)]))
}

/** When the hour or day begins that an hour belongs to. */
function stepStartMs(stepMs: number) {
  return sql<number>`"hourMs" / ${sql.lit(stepMs)} * ${sql.lit(stepMs)}`
}

function selectCallHours(reading: ReadTx, filter: ChartFilter) {
  const { accountId, projectId, keyId, action, fromMs, toMs } = filter
  const own = reading.build.selectFrom('projects').select('projectId')
  let query = reading.build
    .selectFrom('callHours')
    .where('hourMs', '>=', fromMs)
    .where('hourMs', '<', toMs)
    .where('projectId', 'in', own.where('accountId', '=', accountId))
  if (projectId !== undefined) query = query.where('projectId', '=', projectId)
  if (keyId !== undefined) query = query.where('keyId', '=', keyId)
  if (action !== undefined) query = query.where('action', '=', action)
  return query
}

export type ScoreFilter = Pick<ChartFilter, 'accountId' | 'projectId' | 'fromMs' | 'toMs'> &
  Pick<ScoreHourRow, 'kind'>

/** Scores by their bins of 0.02, the lowest first; bins without a score are left out. */
export function countScores(reading: ReadTx, filter: ScoreFilter) {
  const { accountId, projectId, kind, fromMs, toMs } = filter
  const own = reading.build.selectFrom('projects').select('projectId')
  const of = own.where('accountId', '=', accountId)
  const query = reading.build
    .selectFrom('scoreHours')
    .select(['bin', sql<number>`sum(count)`.as('count'), sql<number>`sum(matched)`.as('matched')])
    .where('projectId', 'in', projectId ? of.where('projectId', '=', projectId) : of)
    .where('kind', '=', kind)
    .where('hourMs', '>=', fromMs)
    .where('hourMs', '<', toMs)
    .groupBy('bin')
    .orderBy('bin')
  return reading.run(query)
}
