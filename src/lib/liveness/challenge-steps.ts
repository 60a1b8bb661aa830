/**
 * The head movements that a challenge requests. Left and right are those of the person: for `turnLeft`
 * the nose points to the right side of an image that is not mirrored.
 */
export const challengeSteps = ['turnLeft', 'turnRight', 'lookUp', 'lookDown'] as const

export type ChallengeStep = (typeof challengeSteps)[number]

/** Whether a step is a turn to a side; otherwise it is a look up or down. */
export function isTurn(step: ChallengeStep): boolean {
  return step === 'turnLeft' || step === 'turnRight'
}
