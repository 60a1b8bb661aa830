import {
  addLatency,
  emptyLatencies,
  packLatencies,
  type LatencyHistogram,
} from '../lib/latency-histogram.ts'
import type { Database } from './database.ts'
import { hourOf } from './hours.ts'
import type { CallHourRow } from './console-schema.ts'
import type { CallRow } from './schema.ts'

type Cell = Omit<CallHourRow, 'latencies'> & { readonly latencies: LatencyHistogram }

const pageRows = 20_000

/** Counts the request log as it stands by the hour. To be run once, on tables that are empty. */
export async function fillHours(db: Database): Promise<void> {
  const cells = new Map<string, Cell>()
  for (let after = 0; ;) {
    const page = await db
      .selectFrom('calls')
      .selectAll()
      .where('callId', '>', after)
      .orderBy('callId')
      .limit(pageRows)
      .execute()
    for (const call of page) count(cells, call)
    const last = page.at(-1)
    if (!last) break
    after = last.callId
  }
  for (const { latencies, ...cell } of cells.values())
    await db
      .insertInto('callHours')
      .values({ ...cell, latencies: packLatencies(latencies) })
      .execute()
}

function count(cells: Map<string, Cell>, call: Omit<CallRow, 'callId'>): void {
  const { projectId, keyId, action, code } = call
  const hourMs = hourOf(call.atMs)
  const name = [hourMs, projectId, keyId, action, code].join(' ')
  const none = { calls: 0, billed: 0, costMicros: 0n, latencies: emptyLatencies() }
  const cell = cells.get(name) ?? { hourMs, projectId, keyId, action, code, ...none }
  addLatency(cell.latencies, call.latencyMs)
  cells.set(name, {
    ...cell,
    calls: cell.calls + 1,
    billed: cell.billed + (call.transferId === null ? 0 : 1),
    costMicros: cell.costMicros + call.costMicros,
  })
}
