import { quantiles } from '../support/load.ts'
import type { BenchService } from '../support/service.ts'
import { sendAtConstantRate, type OpenLoopResult } from './open-loop.ts'

/** The figures of one phase: calls at a constant rate for a time. */
export type PhaseResult = {
  /** The rate as a multiple of the capacity. */
  readonly factor: number
  readonly sentPerS: number
  /** Successful calls per second, while calls were sent. */
  readonly goodputPerS: number
  readonly acceptedP99Ms: number
  readonly rejectedCount: number
  /** NaN if no call was rejected. */
  readonly rejectedP50Ms: number
  readonly rejectedP99Ms: number
  readonly rejectedMaxMs: number
  /** Calls that ended neither successfully nor with 503 and Retry-After. */
  readonly failedCount: number
  readonly peakRssBytes: number
  /** Processor time of the service process per call, without the workers. */
  readonly cpuMsPerCall: number
}

export type PhaseOptions = {
  readonly body: Buffer
  readonly capacityPerS: number
  readonly factor: number
  readonly durationMs: number
}

/** The first part of a phase is not measured, because the queue has to fill. */
const warmUpShare = 0.25

/** The service under load. */
export type LoadedService = Pick<BenchService, 'url' | 'key' | 'rssBytes' | 'cpuMs'>

export async function runPhase(
  service: LoadedService,
  options: PhaseOptions,
): Promise<PhaseResult> {
  const { body, capacityPerS, factor, durationMs } = options
  const callsPerS = capacityPerS * factor
  const memory = watchMemory(service)
  const startCpuMs = await service.cpuMs()
  const startMs = performance.now()
  const results = await sendAtConstantRate({ ...service, body, callsPerS, durationMs })
  const peakRssBytes = await memory.stop()
  const fromMs = startMs + durationMs * warmUpShare
  const toMs = startMs + durationMs
  const isMeasured = ({ endedAtMs }: OpenLoopResult) => endedAtMs >= fromMs && endedAtMs < toMs
  const accepted = results.filter(({ status }) => status === 200)
  const rejected = results.filter(({ status, hasRetryAfter }) => status === 503 && hasRetryAfter)
  const rejectedMs = rejected.map(({ latencyMs }) => latencyMs)
  return {
    factor,
    sentPerS: results.length / (durationMs / 1000),
    goodputPerS: accepted.filter(isMeasured).length / ((toMs - fromMs) / 1000),
    acceptedP99Ms: quantiles(accepted.map(({ latencyMs }) => latencyMs)).p99Ms,
    rejectedCount: rejected.length,
    rejectedP50Ms: quantiles(rejectedMs).p50Ms,
    rejectedP99Ms: quantiles(rejectedMs).p99Ms,
    rejectedMaxMs: Math.max(Number.NEGATIVE_INFINITY, ...rejectedMs),
    failedCount: results.length - accepted.length - rejected.length,
    peakRssBytes,
    cpuMsPerCall: ((await service.cpuMs()) - startCpuMs) / results.length,
  }
}

/** Samples the memory of the service process until it is stopped; `stop` returns the peak. */
function watchMemory({ rssBytes }: LoadedService): { readonly stop: () => Promise<number> } {
  let peak = 0
  const sample = async (): Promise<void> => {
    peak = Math.max(peak, await rssBytes())
  }
  const timer = setInterval(() => void sample(), 200)
  return {
    stop: async () => {
      clearInterval(timer)
      await sample()
      return peak
    },
  }
}
