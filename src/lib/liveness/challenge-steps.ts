/**
 * The head movements that a challenge requests. Left and right are those of the person: for `turnLeft`
 * the nose points to the right side of an image that is not mirrored.
 */
export const challengeSteps = ['turnLeft', 'turnRight', 'lookUp', 'lookDown'] as const

export type ChallengeStep = (typeof challengeSteps)[number]

/** Degrees, both included: how far the head must move in a step, against the first frame. */
export type AngleRange = { readonly degreesMin: number; readonly degreesMax: number }

/** The ranges of a session that requests an angle for each step. The first begin at the limits of a step. */
export const angleRanges = {
  turn: [
    { degreesMin: 20, degreesMax: 25 },
    { degreesMin: 25, degreesMax: 30 },
    { degreesMin: 30, degreesMax: 35 },
    { degreesMin: 35, degreesMax: 40 },
  ],
  look: [
    { degreesMin: 15, degreesMax: 20 },
    { degreesMin: 20, degreesMax: 25 },
    { degreesMin: 25, degreesMax: 30 },
  ],
} as const satisfies Record<'turn' | 'look', readonly AngleRange[]>

/** Whether a step is a turn to a side; otherwise it is a look up or down. */
export function isTurn(step: ChallengeStep): boolean {
  return step === 'turnLeft' || step === 'turnRight'
}
