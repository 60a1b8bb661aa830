import { packLatencies } from '../../src/lib/observability/latency-histogram.ts'
import {
  emptyHourlyCallCount,
  hourlyCallKeyText,
  withCall,
  type CountedCall,
  type HourlyCallCount,
} from '../../src/store/gate/hourly-counts.ts'
import type { Database } from '../../src/store/schema.ts'

const dayMs = 86_400_000

/** Counts the existing request log by hour, one day at a time. The table of counts must be empty. */
export async function storeHourlyCounts(db: Database): Promise<void> {
  const calls = db.selectFrom('calls').selectAll()
  const first = await calls.orderBy('atMs').limit(1).executeTakeFirst()
  const last = await calls.orderBy('atMs', 'desc').limit(1).executeTakeFirst()
  if (!first || !last) return
  for (let dayStartMs = dayStartOf(first.atMs); dayStartMs <= last.atMs; dayStartMs += dayMs) {
    const rows = await calls
      .where('atMs', '>=', dayStartMs)
      .where('atMs', '<', dayStartMs + dayMs)
      .execute()
    for (const { latencies, ...count } of countCallsByHour(rows))
      await db
        .insertInto('callHours')
        .values({ ...count, latencies: packLatencies(latencies) })
        .execute()
  }
}

/** Counts calls by hour, project, key, action and code. */
function countCallsByHour(rows: Iterable<CountedCall>): Iterable<HourlyCallCount> {
  const counts = new Map<string, HourlyCallCount>()
  for (const row of rows) {
    const key = hourlyCallKeyText(row)
    counts.set(key, withCall(counts.get(key) ?? emptyHourlyCallCount(row), row))
  }
  return counts.values()
}

function dayStartOf(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs
}
