import type { SteadyClock } from '../lib/clock.ts'
import { HttpError } from '../lib/errors.ts'
import type { Micros } from '../lib/money.ts'
import type { Pass } from './arrival.ts'
import type { Entry } from './enter.ts'
import { codeOf } from './log.ts'
import { priceOf, type Answer } from './settle.ts'

/** What the gate of this process has done since its start. */
export type GateStats = {
  /** Calls that were turned away, by the code of the table of errors. */
  readonly refused: ReadonlyMap<string, number>
  readonly replayedCount: number
  /** What was charged, by action. */
  readonly chargedMicros: ReadonlyMap<string, Micros>
  /** Time since overdue calls were last looked for with success; 5 s is usual. */
  readonly sweepLagMs: number
}

/** Counts at the ways into the gate and out of it. */
export type Tally = {
  readonly entered: (entry: Entry) => Entry
  /** @throws the same error. */
  readonly failed: (error: unknown) => never
  readonly settled: (pass: Pass, answer: Answer) => void
  readonly swept: () => void
  readonly stats: () => GateStats
}

export function createTally(steadyClock: SteadyClock): Tally {
  const refused = new Map<string, number>()
  const chargedMicros = new Map<string, Micros>()
  let replayedCount = 0
  let sweptAtUs = steadyClock()
  const countRefusal = (error: unknown): void => {
    const code = codeOf(error)
    refused.set(code, (refused.get(code) ?? 0) + 1)
  }
  return {
    entered: (entry) => {
      if (entry.kind === 'refused') countRefusal(entry.error)
      if (entry.kind === 'replay') replayedCount += 1
      return entry
    },
    failed: (error) => {
      if (error instanceof HttpError) countRefusal(error)
      throw error
    },
    settled: (pass, answer) => {
      const { action } = pass.visit
      const amountMicros = priceOf(pass, answer)
      if (amountMicros > 0n)
        chargedMicros.set(action, (chargedMicros.get(action) ?? 0n) + amountMicros)
    },
    swept: () => {
      sweptAtUs = steadyClock()
    },
    stats: () => {
      const sweepLagMs = (steadyClock() - sweptAtUs) / 1000
      return { refused, chargedMicros, replayedCount, sweepLagMs }
    },
  }
}
