import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { Envelope } from './envelope.ts'

/** Figures of the vision side, by name; each becomes a gauge. */
export type VisionStats = () => Readonly<Record<string, number>>

export type Metrics = {
  readonly onAnswered: (envelope: Envelope, durationMs: number) => void
  /** The Prometheus text of this moment. */
  readonly text: () => Promise<string>
}

const secondsBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

/** Counts and times of calls. No label carries a caller's text: unknown actions count as such. */
export function createMetrics(
  visionStats: VisionStats,
  knownActions: ReadonlySet<string>,
): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const calls = new Counter({
    name: 'facegate_calls_total',
    help: 'Envelopes answered, by action and code; OK is the code of success.',
    labelNames: ['action', 'code'] as const,
    registers,
  })
  const durations = new Histogram({
    name: 'facegate_call_duration_seconds',
    help: 'Time from the request line to the envelope.',
    labelNames: ['action'] as const,
    buckets: secondsBuckets,
    registers,
  })
  const vision = new Gauge({
    name: 'facegate_vision',
    help: 'State of the vision workers and their queue.',
    labelNames: ['figure'] as const,
    registers: [],
    collect() {
      for (const [figure, value] of Object.entries(visionStats())) this.set({ figure }, value)
    },
  })
  registry.registerMetric(vision)
  return {
    onAnswered: ({ action, errors }, durationMs) => {
      const label = knownActions.has(action) ? action : 'unknown'
      calls.inc({ action: label, code: errors[0]?.code ?? 'OK' })
      durations.observe({ action: label }, durationMs / 1000)
    },
    text: () => registry.metrics(),
  }
}
