import type { Drift } from './measure/latencies.ts'
import type { ProcessSample } from './measure/process-samples.ts'
import { memorySlope, type Slope } from './measure/slope.ts'

/** The limits of a soak run. The strict limits apply to a measured period of an hour or more. */
const soakLimits = {
  rssSlopeMibPerHour: 1,
  p99DriftShare: 0.1,
  /** In a shorter period, growth up to this is noise: pools and caches are still being filled. */
  shortRunNoiseMib: 32,
  /** In a shorter period, p99 may drift by this share more: it is the time of a few slow calls. */
  shortRunNoiseShare: 1,
  /** Descriptors and threads are flat if the medians of first and last third differ by at most this. */
  handleGrowth: 4,
} as const

const hourMs = 3_600_000

/** Memory is not judged in a shorter period, in which every process still fills its pools. */
const judgedPeriodMsMin = 120_000

export type Verdict = { readonly measured: string; readonly limit: string; readonly ok: boolean }

/** The period in which a process is measured: after an hour, or after half of a shorter life. */
export function measuredPeriod(startMs: number, endMs: number): readonly [number, number] {
  return [startMs + Math.min(hourMs, (endMs - startMs) / 2), endMs]
}

/** @returns undefined if the process did not live long enough for a slope. */
export function judgeMemory(
  samples: readonly ProcessSample[],
): (Verdict & { readonly slope: Slope }) | undefined {
  const slope = memorySlope(samples)
  if (!slope || slope.windowMs < judgedPeriodMsMin) return undefined
  const hours = slope.windowMs / hourMs
  const noise = hours < 1 ? soakLimits.shortRunNoiseMib / hours : 0
  const limit = soakLimits.rssSlopeMibPerHour + noise
  return {
    slope,
    measured: `${slope.mibPerHour.toFixed(2)} ± ${slope.errorMibPerHour.toFixed(2)} MiB/h`,
    limit: `${limit.toFixed(1)} MiB/h${noise > 0 ? ' (short period)' : ''}`,
    ok: slope.mibPerHour < limit,
  }
}

/** Judges the drift of p99 relative to the drift of the reference computation. */
export function judgeDrift(drift: Drift, reference: Drift, periodMs: number): Verdict {
  const machine = Math.max(1, reference.last.p99Ms / reference.first.p99Ms)
  const noise = periodMs < hourMs ? soakLimits.shortRunNoiseShare : 0
  const limit = (1 + soakLimits.p99DriftShare + noise) * machine
  const measured = drift.last.p99Ms / drift.first.p99Ms
  return {
    measured: `p99 × ${measured.toFixed(2)}`,
    limit: `× ${limit.toFixed(2)}${noise > 0 ? ' (short period)' : ''}`,
    ok: measured < limit,
  }
}

/** Judges a count that must be flat, by the medians of the first and the last third. */
export function judgeFlat(values: readonly number[]): Verdict {
  const third = Math.max(1, Math.floor(values.length / 3))
  const first = median(values.slice(0, third))
  const last = median(values.slice(-third))
  const limit = first + soakLimits.handleGrowth
  return { measured: `${first} → ${last}`, limit: `≤ ${limit}`, ok: last <= limit }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
