import { createHash, randomBytes } from 'node:crypto'
import type { Latencies } from './latencies.ts'

const block = randomBytes(1024 * 1024)

/** Measures a fixed computation of some milliseconds. */
export function measureReference(latencies: Latencies): void {
  const startMs = performance.now()
  createHash('sha256').update(block).digest()
  latencies.record('reference', startMs)
}
