import { median } from '../support/table.ts'
import type { PhaseResult } from './phase.ts'

/** The rates of a round, as multiples of the capacity. The first is the reference. */
export const factors = [1, 2, 3, 10] as const

/** Successful calls per second at overload, at least this share of those at capacity. */
const goodputShareMin = 0.9
/** p99 of the time until a call is rejected. */
const rejectedMsMax = 50
/** Peak memory at any rate, at most this multiple of the peak at capacity. */
const memoryGrowthMax = 1.5

/** Returns the medians of the phases with one rate, of all rounds. */
export function medianPhase(phases: readonly PhaseResult[]): PhaseResult {
  const [first] = phases
  if (!first) throw new Error('there is no round')
  // A round without a rejection has no time until a rejection.
  const medianOf = (name: keyof PhaseResult): number =>
    median(phases.map((phase) => phase[name]).filter((value) => !Number.isNaN(value)))
  const names = Object.keys(first) as (keyof PhaseResult)[]
  // Every field of a phase is a number.
  return Object.fromEntries(names.map((name) => [name, medianOf(name)])) as PhaseResult
}

/** Returns one sentence for each limit that is exceeded. */
export function findViolations(
  [atCapacity, ...overloads]: readonly PhaseResult[],
  rounds: readonly (readonly PhaseResult[])[],
): string[] {
  if (!atCapacity) return ['nothing was measured']
  const violations: string[] = []
  for (const { factor, goodputPerS, rejectedCount, rejectedP99Ms, peakRssBytes } of overloads) {
    if (goodputPerS < goodputShareMin * atCapacity.goodputPerS)
      violations.push(`${factor}×: ${goodputPerS.toFixed(1)} successful calls/s`)
    if (rejectedCount > 0 && rejectedP99Ms >= rejectedMsMax)
      violations.push(`${factor}×: rejections take ${rejectedP99Ms.toFixed(1)} ms (p99)`)
    if (peakRssBytes > memoryGrowthMax * atCapacity.peakRssBytes)
      violations.push(`${factor}×: ${(peakRssBytes / 2 ** 20).toFixed(0)} MiB of memory`)
  }
  if ((overloads.at(-1)?.rejectedCount ?? 0) === 0)
    violations.push('no call was rejected: the capacity was underestimated, repeat the measurement')
  const failedCount = rounds.flat().reduce((sum, phase) => sum + phase.failedCount, 0)
  if (failedCount > 0) violations.push(`${failedCount} calls failed otherwise than with 503`)
  return violations
}
