import type { SteadyClock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import type { AdmittedCall } from './call-states.ts'
import type { AdmitResult } from './admission/admit.ts'
import { errorCodeOf } from './log-call.ts'
import { amountsOf } from '../store/gate/settlement-rule.ts'
import type { Settlement } from './settle.ts'

/** Counts of this process since its start. */
export type GateStats = {
  /** Rejected calls, by error code. */
  readonly rejected: ReadonlyMap<string, number>
  readonly replayedCount: number
  /** Charged money, by action. */
  readonly chargedMicros: ReadonlyMap<string, Micros>
  /** Time since the last successful sweep; up to 5 s is normal. */
  readonly sweepLagMs: number
}

/** Counts calls as they enter and leave the gate. */
export type GateStatsRecorder = {
  /** @returns its argument. */
  readonly recordAdmission: <Result extends AdmitResult>(result: Result) => Result
  /** @throws its argument. */
  readonly recordFailure: (error: unknown) => never
  readonly recordSettlement: (admitted: AdmittedCall, settlement: Settlement) => void
  readonly recordSweep: () => void
  readonly stats: () => GateStats
}

export function createGateStats(steadyClock: SteadyClock): GateStatsRecorder {
  const rejected = new Map<string, number>()
  const chargedMicros = new Map<string, Micros>()
  let replayedCount = 0
  let lastSweepUs = steadyClock()
  const recordRejection = (error: unknown): void => {
    const code = errorCodeOf(error)
    rejected.set(code, (rejected.get(code) ?? 0) + 1)
  }
  return {
    recordAdmission: (result) => {
      if (result.kind === 'rejected') recordRejection(result.error)
      if (result.kind === 'replay') replayedCount += 1
      return result
    },
    recordFailure: (error) => {
      if (error instanceof HttpError) recordRejection(error)
      throw error
    },
    recordSettlement: (admitted, settlement) => {
      const { action } = admitted.call
      const { amountMicros } = amountsOf(admitted, settlement)
      if (amountMicros > 0n)
        chargedMicros.set(action, (chargedMicros.get(action) ?? 0n) + amountMicros)
    },
    recordSweep: () => {
      lastSweepUs = steadyClock()
    },
    stats: () => {
      const sweepLagMs = (steadyClock() - lastSweepUs) / 1000
      return { rejected, chargedMicros, replayedCount, sweepLagMs }
    },
  }
}
