import type { HeadTurn } from './fake-head.ts'
import { fakeImage, type FakePerson } from './fake-vision.ts'
import type { AngleRange, ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

/** A turn that shows each step clearly. */
const turnOfStep: Readonly<Record<ChallengeStep, HeadTurn>> = {
  turnLeft: { yaw: 30 },
  turnRight: { yaw: -30 },
  lookUp: { pitch: 25 },
  lookDown: { pitch: -25 },
}

/**
 * Returns the frames of a person who follows the steps: a frontal one, then one per step.
 *
 * @param angles the requested angles; they are shown at the middle.
 */
export function framesOf(
  steps: readonly ChallengeStep[],
  person: Partial<FakePerson> = {},
  angles: readonly AngleRange[] = [],
): FakePerson[][] {
  const shown: FakePerson = { name: 'Ada', ...person }
  const turned = steps.map((step, index) => [
    { ...shown, take: index + 1, deviation: 0.3, turn: turnBy(step, angles[index]) },
  ])
  return [[shown], ...turned]
}

function turnBy(step: ChallengeStep, angle: AngleRange | undefined): HeadTurn {
  return angle ? turnByDegrees(step, (angle.degreesMin + angle.degreesMax) / 2) : turnOfStep[step]
}

/** Returns a turn in the direction of a step. */
export function turnByDegrees(step: ChallengeStep, degrees: number): HeadTurn {
  const { yaw, pitch } = turnOfStep[step]
  return yaw === undefined
    ? { pitch: Math.sign(pitch ?? 0) * degrees }
    : { yaw: Math.sign(yaw) * degrees }
}

/** Returns the images of frames, each with the people in it. */
export function frameImages(frames: readonly (readonly FakePerson[])[]): object[] {
  return frames.map((people) => {
    const { bytes, contentType } = fakeImage(...people)
    return { kind: 'image', bytes: bytes.toString('base64'), contentType }
  })
}
