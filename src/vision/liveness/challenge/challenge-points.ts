import { roundTo } from '../../../lib/round-to.ts'
import { meanOf, type Point } from '../../image/geometry.ts'
import type { ChallengeFacts } from './challenge-judgement.ts'
import { type Mesh, headPose } from '../../landmarks/mesh.ts'
import { faceFingerprint } from './face-fingerprint.ts'

/** Points of a face in groups; each group has the same order in every face. */
export type ChallengePoints = ReturnType<typeof readPoints>

const eyeCorners = [33, 133, 362, 263]
const mouthCorners = [61, 291]
const brows = [70, 105, 107, 336, 334, 300]
const relief = [1, 98, 327, 152, 10]
const noseBase = [2, 164]
const bridgeAndTip = [4, 168, 6]
const lips = [0, 17]
const cheeksAndJaw = [50, 280, 234, 454, 172, 397]

/** Indices of the mesh points whose x and y are in `ChallengeFacts.points`, in this order. */
export const challengePointIndices: readonly number[] = [
  ...eyeCorners,
  ...mouthCorners,
  ...brows,
  ...relief,
  ...bridgeAndTip,
  ...lips,
  ...cheeksAndJaw,
  ...noseBase,
]

/** Returns the points of one face. @throws RangeError if `facts` has another number of points. */
export function readPoints({ points }: Pick<ChallengeFacts, 'points'>) {
  if (points.length !== 2 * challengePointIndices.length)
    throw new RangeError(`a face has ${2 * challengePointIndices.length} coordinates`)
  const all = challengePointIndices.map((_, index) => ({
    x: points[2 * index] ?? 0,
    y: points[2 * index + 1] ?? 0,
  }))
  const pick = (indices: readonly number[]): Point[] =>
    indices.map((index) => all[challengePointIndices.indexOf(index)] ?? { x: 0, y: 0 })
  return {
    /** The centres of both eyes; left and right as seen in the image. */
    eyes: [meanOf(pick(eyeCorners.slice(0, 2))), meanOf(pick(eyeCorners.slice(2)))],
    /** Corners of the eyes and of the mouth, and brows: nearly a plane on every head. */
    plane: pick([...eyeCorners, ...mouthCorners, ...brows]),
    /** Tip of the nose, nostrils, chin and forehead, which are in front of that plane or behind it. */
    relief: pick(relief),
    /** Below the nose, above the lips. */
    noseBase: pick(noseBase),
    /** All points: the outline of the face as well. */
    // The base of the nose is measured apart, because its place differs most from that in a picture.
    all: all.slice(0, challengePointIndices.length - noseBase.length),
  }
}

/**
 * Returns the measurements of one face that a challenge is judged by. The yaw is the angle of the line
 * between the cheeks (points 234 and 454) in x and z.
 */
export function measureChallenge(mesh: Mesh): ChallengeFacts {
  const { yaw, pitch } = headPose(mesh)
  const points = challengePointIndices.flatMap((index) => {
    const { x, y } = mesh.points[index] ?? { x: 0, y: 0 }
    return [roundTo(x, 2), roundTo(y, 2)]
  })
  const fingerprint = faceFingerprint(mesh)
  return { yaw: roundTo(yaw, 2), pitch: roundTo(pitch, 2), points, fingerprint }
}
