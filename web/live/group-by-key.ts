import type { CallLogEntry } from '../api/responses.ts'

/** The latest calls of one key. */
export type KeyActivity = Pick<CallLogEntry, 'keyId' | 'keyName' | 'projectName'> & {
  /** The newest first, at most `tilesMax`. */
  readonly calls: readonly CallLogEntry[]
  readonly failed: number
  readonly medianMs: number
}

/** Two lines of tiles on a wide screen. */
const tilesMax = 60

/** Groups calls, the newest first, by key: the key with the newest call is the first. */
export function groupByKey(calls: readonly CallLogEntry[]): readonly KeyActivity[] {
  return [...Map.groupBy(calls, ({ keyId }) => keyId).values()].flatMap((group) => {
    const [newest] = group
    if (!newest) return []
    const { keyId, keyName, projectName } = newest
    const shown = group.slice(0, tilesMax)
    const latencies = shown.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b)
    const medianMs = latencies[Math.floor(latencies.length / 2)] ?? 0
    const failed = shown.filter(({ ok }) => !ok).length
    return [{ keyId, keyName, projectName, calls: shown, failed, medianMs }]
  })
}
