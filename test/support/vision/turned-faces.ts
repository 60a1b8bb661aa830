import type { Mesh } from '../../../src/vision/landmarks/mesh.ts'
import type {
  ChallengeFacts,
  ChallengeFrame,
} from '../../../src/vision/liveness/challenge/challenge-judgement.ts'
import { judgeChallenge } from '../../../src/vision/liveness/challenge/judge-challenge.ts'
import { measureChallenge } from '../../../src/vision/liveness/challenge/challenge-points.ts'
import { readChallengeSource } from './challenge-source.ts'
import { openTestPipeline } from './test-pipeline.ts'
import { fingerprint, toFrontal, turnedPoints } from './turned-mesh.ts'
import type { ChallengeStep } from '../../../src/lib/liveness/challenge-steps.ts'

/** Poses that pass each step, in degrees. */
export const views = {
  turnLeft: { yaw: 28, pitch: 0 },
  turnRight: { yaw: -28, pitch: 0 },
  lookUp: { yaw: 0, pitch: 24 },
  lookDown: { yaw: 0, pitch: -24 },
}

/** Loads the mesh of a real face, and returns functions that measure it in any pose. */
export async function openTurnedFaces() {
  const pipeline = await openTestPipeline()
  const mesh: Mesh = toFrontal((await readChallengeSource(pipeline)).mesh)
  await pipeline.close()

  /** Projects the mesh, turned; `depth` 1 is the face, 0 a picture of it. */
  const turned = (view: { yaw: number; pitch: number }, depth = 1): ChallengeFacts => ({
    ...measureChallenge({ ...mesh, points: turnedPoints(mesh, view, depth) }),
    // The picture of a face shows no change of its pose, but a mesh network can misread one.
    ...view,
    fingerprint: fingerprint(JSON.stringify(view).length + view.yaw),
  })
  return { mesh, turned, front: (depth = 1): ChallengeFacts => turned({ yaw: 0, pitch: 0 }, depth) }
}

export const ofSamePerson = (...all: readonly ChallengeFacts[]): ChallengeFrame[] =>
  all.map((facts) => ({ facts, similarityToFirst: 0.95, similarityToPrevious: 0.95 }))

/** Judges the frames of one person. */
export function judgeFaces(steps: readonly ChallengeStep[], ...all: readonly ChallengeFacts[]) {
  return judgeChallenge(ofSamePerson(...all), steps)
}
