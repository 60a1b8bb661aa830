import {
  createLatencyHistogram,
  latencyPercentileMs,
  recordLatency,
} from '../../lib/observability/latency-histogram.ts'

/** The calls and the latencies of one minute of this server. */
export type MinuteLatency = {
  readonly record: (latencyMs: number) => void
  /** Returns the values since the last time, and begins again. */
  readonly take: () => {
    readonly calls: number
    readonly p50Ms: number | null
    readonly p95Ms: number | null
  }
}

export function createMinuteLatency(): MinuteLatency {
  let histogram = createLatencyHistogram()
  let calls = 0
  return {
    record: (latencyMs) => {
      recordLatency(histogram, latencyMs)
      calls += 1
    },
    take: () => {
      const taken = {
        calls,
        p50Ms: latencyPercentileMs(histogram, 0.5),
        p95Ms: latencyPercentileMs(histogram, 0.95),
      }
      histogram = createLatencyHistogram()
      calls = 0
      return taken
    },
  }
}
