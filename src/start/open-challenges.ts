import { randomInt } from 'node:crypto'
import type { Config } from '../config.ts'
import { createChallenges, type Challenges } from '../gallery/challenges/challenges.ts'
import type { Calibrations } from '../gallery/calibration/calibrations.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Store } from '../store/database.ts'
import { schedule } from './schedule.ts'

type ChallengeEnvironment = {
  readonly store: Store
  readonly calibrations: Calibrations
  readonly clock: Clock
  readonly log: Log
}

const sweepIntervalMs = 60_000

/** Opens the liveness challenges, with the periodic sweep of expired ones. */
export function openChallenges(
  config: Config,
  { store, calibrations, clock, log }: ChallengeEnvironment,
  opened: AsyncDisposableStack,
): Challenges {
  const challenges = createChallenges({
    store,
    clock,
    activeModelId: calibrations.activeModelId,
    randomInteger: randomInt,
    failuresPerMinuteMax: config.LIVENESS_FAILURES_PER_MINUTE_MAX,
    openMax: config.LIVENESS_CHALLENGES_OPEN_MAX,
  })
  const sweep = async (): Promise<void> => void (await challenges.sweep())
  const failure = 'the sweep of expired liveness challenges failed'
  opened.use(schedule(sweep, { intervalMs: sweepIntervalMs, failure }, log))
  return challenges
}
