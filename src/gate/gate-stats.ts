import type { SteadyClock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import type { Admission } from './incoming-call.ts'
import type { AdmitResult } from './admission/admit.ts'
import { errorCodeOf } from './log-call.ts'
import { priceOf, type BillableResponse } from './settle.ts'

/** What the gate of this process has done since its start. */
export type GateStats = {
  /** Calls that were turned away, by the code of the table of errors. */
  readonly rejected: ReadonlyMap<string, number>
  readonly replayedCount: number
  /** What was charged, by action. */
  readonly chargedMicros: ReadonlyMap<string, Micros>
  /** Time since overdue calls were last looked for with success; 5 s is usual. */
  readonly sweepLagMs: number
}

/** Counts at the ways into the gate and out of it. */
export type GateStatsRecorder = {
  readonly recordAdmission: (entry: AdmitResult) => AdmitResult
  /** @throws the same error. */
  readonly recordFailure: (error: unknown) => never
  readonly recordSettlement: (pass: Admission, answer: BillableResponse) => void
  readonly recordSweep: () => void
  readonly stats: () => GateStats
}

export function createGateStats(steadyClock: SteadyClock): GateStatsRecorder {
  const refused = new Map<string, number>()
  const chargedMicros = new Map<string, Micros>()
  let replayedCount = 0
  let sweptAtUs = steadyClock()
  const countRefusal = (error: unknown): void => {
    const code = errorCodeOf(error)
    refused.set(code, (refused.get(code) ?? 0) + 1)
  }
  return {
    recordAdmission: (entry) => {
      if (entry.kind === 'refused') countRefusal(entry.error)
      if (entry.kind === 'replay') replayedCount += 1
      return entry
    },
    recordFailure: (error) => {
      if (error instanceof HttpError) countRefusal(error)
      throw error
    },
    recordSettlement: (pass, answer) => {
      const { action } = pass.call
      const amountMicros = priceOf(pass, answer)
      if (amountMicros > 0n)
        chargedMicros.set(action, (chargedMicros.get(action) ?? 0n) + amountMicros)
    },
    recordSweep: () => {
      sweptAtUs = steadyClock()
    },
    stats: () => {
      const sweepLagMs = (steadyClock() - sweptAtUs) / 1000
      return { rejected: refused, chargedMicros, replayedCount, sweepLagMs }
    },
  }
}
