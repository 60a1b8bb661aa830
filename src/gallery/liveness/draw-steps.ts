import { challengeSteps, isTurn, type ChallengeStep } from '../../lib/liveness/challenge-steps.ts'

/** Returns a random integer from 0 to `limit - 1`, each with the same probability. */
export type RandomInteger = (limit: number) => number

/**
 * Draws the steps of a challenge: never the same twice in a row, and at least one turn to a side. All
 * sequences that follow these rules have the same probability, because the others are drawn again.
 */
export function drawSteps(count: number, randomInteger: RandomInteger): ChallengeStep[] {
  for (;;) {
    const steps: ChallengeStep[] = []
    while (steps.length < count) {
      const choices = challengeSteps.filter((step) => step !== steps.at(-1))
      const step = choices[randomInteger(choices.length)]
      if (!step) throw new RangeError('the random number is out of its range')
      steps.push(step)
    }
    // A turn to a side is the step that a flat picture cannot show.
    if (steps.some(isTurn)) return steps
  }
}
