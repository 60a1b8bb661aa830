import type { Clock } from '../../lib/clock.ts'
import { ActionError } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import type { Store } from '../../store/database.ts'
import {
  addChallenge,
  countOpenChallenges,
  deleteExpiredChallenges,
  findFailureTimes,
  findOpenChallenge,
  lockChallenges,
  spendChallenge,
} from '../../store/gate/liveness-challenges.ts'
import type { ReadTx, Tx } from '../../store/tx.ts'
import type { ChallengeStep } from '../../vision/liveness/challenge/challenge-judgement.ts'
import {
  createLivenessTokens,
  sweepLivenessTokens,
  type LivenessTokens,
} from './liveness-tokens.ts'
import { deleteInBatches } from './delete-in-batches.ts'

/** A challenge that can be answered once until it expires. */
export type Challenge = {
  readonly challengeId: string
  readonly projectId: string
  readonly steps: readonly ChallengeStep[]
  readonly expiresAtMs: number
}

/** The challenges of all projects, and the tokens of people who passed one. */
export type Challenges = {
  /** @throws ActionError RATE_LIMITED at the limit of open or of failed challenges. */
  readonly create: (projectId: string, stepCount: number) => Promise<Challenge>
  /** @throws ActionError CHALLENGE_NOT_FOUND; RATE_LIMITED at the limit of failed challenges. */
  readonly find: (projectId: string, challengeId: string) => Promise<Challenge>
  /**
   * Spends a challenge in the transaction that settles its call, and counts it if it failed.
   *
   * @throws ActionError as `find`. Of concurrent calls only one spends the challenge.
   */
  readonly spend: (tx: Tx, challenge: Challenge, isPassed: boolean) => Promise<void>
  readonly tokens: LivenessTokens
  /** Deletes expired challenges and tokens. @returns the number of rows. */
  readonly sweep: () => Promise<number>
}

export type ChallengesOptions = {
  readonly store: Pick<Store, 'read' | 'write'>
  /** On PostgreSQL the clock of the database, so that all servers agree. */
  readonly clock: Clock
  /** The model of the service's templates. */
  readonly activeModelId: string
  readonly randomInteger: RandomInteger
  readonly failuresPerMinuteMax: number
  /** Of each project. */
  readonly openMax: number
}

/** The time to complete a challenge. */
const challengeLifeMs = 120_000

const failureWindowMs = 60_000

export function createChallenges(options: ChallengesOptions): Challenges {
  const { store, clock, randomInteger, openMax } = options
  return {
    create: (projectId, stepCount) =>
      store.write(async (tx) => {
        await lockChallenges(tx, projectId)
        const nowMs = clock()
        await requireFewFailures(tx, projectId, options)
        if ((await countOpenChallenges(tx, { projectId, nowMs })) >= openMax)
          throw tooManyOpen(openMax)
        const steps = drawSteps(stepCount, randomInteger)
        const expiresAtMs = nowMs + challengeLifeMs
        const challenge = { challengeId: newId(), projectId, steps, expiresAtMs }
        await addChallenge(tx, { ...challenge, steps: JSON.stringify(steps) })
        return challenge
      }),
    find: (projectId, challengeId) =>
      store.read(async (reading) => {
        const found = await findOpenChallenge(reading, { projectId, challengeId, nowMs: clock() })
        if (!found) throw challengeNotFound()
        await requireFewFailures(reading, projectId, options)
        // `create` has written the steps.
        const steps = JSON.parse(found.steps) as readonly ChallengeStep[]
        return { challengeId, projectId, steps, expiresAtMs: found.expiresAtMs }
      }),
    spend: async (tx, { projectId, challengeId }, isPassed) => {
      await lockChallenges(tx, projectId)
      await requireFewFailures(tx, projectId, options)
      const spent = { projectId, challengeId, nowMs: clock(), failed: isPassed ? 0 : 1 } as const
      if (!(await spendChallenge(tx, spent))) throw challengeNotFound()
    },
    tokens: createLivenessTokens(options),
    sweep: async () => {
      const beforeMs = clock() - failureWindowMs
      const challengeCount = await deleteInBatches(store, (tx, limit) =>
        deleteExpiredChallenges(tx, { beforeMs, limit }),
      )
      return challengeCount + (await sweepLivenessTokens(options))
    },
  }
}

/**
 * One text for every reason, so that it reveals nothing about challenges of other projects.
 *
 * @returns the error.
 */
function challengeNotFound(): ActionError {
  return new ActionError(
    'CHALLENGE_NOT_FOUND',
    'params.challengeId: there is no open challenge with this id; create one with POST /v1/liveness/challenges',
  )
}

/** @throws ActionError RATE_LIMITED until the oldest counted failure leaves the window. */
async function requireFewFailures(
  reading: ReadTx,
  projectId: string,
  { clock, failuresPerMinuteMax: limit }: Pick<ChallengesOptions, 'clock' | 'failuresPerMinuteMax'>,
): Promise<void> {
  const nowMs = clock()
  const afterMs = nowMs - failureWindowMs
  const times = await findFailureTimes(reading, { projectId, afterMs, limit })
  const oldestMs = times[limit - 1]
  if (oldestMs === undefined) return
  const retryAfterS = Math.max(1, Math.ceil((oldestMs - afterMs) / 1000))
  throw new ActionError(
    'RATE_LIMITED',
    `${limit} liveness challenges of the project failed within 60 s; wait ${retryAfterS} s, or raise LIVENESS_FAILURES_PER_MINUTE_MAX.`,
    { retryAfterS },
  )
}

const openRetryAfterS = 10

function tooManyOpen(openMax: number): ActionError {
  return new ActionError(
    'RATE_LIMITED',
    `The project has ${openMax} open liveness challenges; complete some, wait until they expire, or raise LIVENESS_CHALLENGES_OPEN_MAX.`,
    { retryAfterS: openRetryAfterS },
  )
}

const allSteps: readonly ChallengeStep[] = ['turnLeft', 'turnRight', 'lookUp', 'lookDown']

/** A turn to a side is the step that a flat picture cannot show. */
const sideSteps: ReadonlySet<ChallengeStep> = new Set(['turnLeft', 'turnRight'])

/** Returns a random integer from 0 to `limit - 1`, each with the same probability. */
export type RandomInteger = (limit: number) => number

/**
 * Draws the steps of a challenge: never the same twice in a row, and at least one turn to a side. All
 * sequences that follow these rules have the same probability, because the others are drawn again.
 */
function drawSteps(count: number, randomInteger: RandomInteger): ChallengeStep[] {
  for (;;) {
    const steps: ChallengeStep[] = []
    while (steps.length < count) {
      const choices = allSteps.filter((step) => step !== steps.at(-1))
      const step = choices[randomInteger(choices.length)]
      if (!step) throw new RangeError('the random number is out of its range')
      steps.push(step)
    }
    if (steps.some((step) => sideSteps.has(step))) return steps
  }
}
