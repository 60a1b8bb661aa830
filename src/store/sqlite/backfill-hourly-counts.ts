import { packLatencies } from '../../lib/observability/latency-histogram.ts'
import type { Database } from '../schema.ts'
import { countCallsByHour } from '../gate/hourly-counts.ts'

const dayMs = 86_400_000

/** Counts the existing request log by hour, one day at a time. The table of counts must be empty. */
export async function backfillHourlyCounts(db: Database): Promise<void> {
  const calls = db.selectFrom('calls').selectAll()
  const first = await calls.orderBy('atMs').limit(1).executeTakeFirst()
  const last = await calls.orderBy('atMs', 'desc').limit(1).executeTakeFirst()
  if (!first || !last) return
  for (let dayStartMs = dayStartOf(first.atMs); dayStartMs <= last.atMs; dayStartMs += dayMs) {
    const rows = await calls
      .where('atMs', '>=', dayStartMs)
      .where('atMs', '<', dayStartMs + dayMs)
      .execute()
    // At this migration neither table has the column yet.
    const withoutMetered = rows.map((row) => ({ ...row, meteredMicros: 0n }))
    for (const { latencies, meteredMicros: _, ...count } of countCallsByHour(withoutMetered))
      await db
        .insertInto('callHours')
        .values({ ...count, latencies: packLatencies(latencies) })
        .execute()
  }
}

function dayStartOf(ms: number): number {
  return Math.floor(ms / dayMs) * dayMs
}
