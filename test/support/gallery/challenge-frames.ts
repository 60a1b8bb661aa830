import type { HeadTurn } from './fake-head.ts'
import { fakeImage, type FakePerson } from './fake-vision.ts'
import type { ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

/** A turn that shows each step clearly. */
const turnOfStep: Readonly<Record<ChallengeStep, HeadTurn>> = {
  turnLeft: { yaw: 30 },
  turnRight: { yaw: -30 },
  lookUp: { pitch: 25 },
  lookDown: { pitch: -25 },
}

/** Returns the frames of a person who follows the steps: a frontal one, then one per step. */
export function framesOf(
  steps: readonly ChallengeStep[],
  person: Partial<FakePerson> = {},
): FakePerson[][] {
  const shown: FakePerson = { name: 'Ada', ...person }
  const turned = steps.map((step, index) => [
    { ...shown, take: index + 1, deviation: 0.3, turn: turnOfStep[step] },
  ])
  return [[shown], ...turned]
}

/** Returns the images of frames, each with the people in it. */
export function frameImages(frames: readonly (readonly FakePerson[])[]): object[] {
  return frames.map((people) => {
    const { bytes, contentType } = fakeImage(...people)
    return { kind: 'image', bytes: bytes.toString('base64'), contentType }
  })
}
