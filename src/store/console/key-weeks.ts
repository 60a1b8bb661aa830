import { weekMs } from '../../lib/clock.ts'
import {
  addDecisions,
  noDecisions,
  type KeyDecisions,
} from '../../lib/observability/camera-changes.ts'
import type { Store } from '../database.ts'
import { readChart, sumDecisions, type ChartFilter } from './call-charts.ts'

/**
 * Returns the decisions of each key with calls, for each of the weeks before `toMs`, a full hour, the
 * oldest first.
 */
export async function readKeyWeeks(
  store: Pick<Store, 'read' | 'isShared'>,
  { weeks, ...filter }: Omit<ChartFilter, 'fromMs' | 'action'> & { readonly weeks: number },
): Promise<ReadonlyMap<string, readonly KeyDecisions[]>> {
  const fromMs = filter.toMs - weeks * weekMs
  const sums = new Map<string, KeyDecisions[]>()
  const parts = readChart(store, { ...filter, fromMs }, (tx, part) =>
    sumDecisions(tx, part, { startMs: fromMs, stepMs: weekMs }),
  )
  for await (const rows of parts)
    for (const { keyId, step, ...decisions } of rows) {
      const keyWeeks = sums.get(keyId) ?? Array.from({ length: weeks }, () => noDecisions)
      const sum = keyWeeks[step] ?? noDecisions
      keyWeeks[step] = sum === noDecisions ? decisions : addDecisions([sum, decisions])
      sums.set(keyId, keyWeeks)
    }
  return sums
}
