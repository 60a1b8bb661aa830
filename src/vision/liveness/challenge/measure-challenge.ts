import { headPose } from '../../landmarks/head-pose.ts'
import type { Mesh } from '../../landmarks/mesh.ts'
import { challengePointIndices } from './challenge-points.ts'
import type { ChallengeFacts } from './challenge.ts'
import { faceFingerprint } from './fingerprint.ts'

/**
 * Returns the measurements of one face that a challenge is judged by. The yaw is the angle of the line
 * between the cheeks (points 234 and 454) in x and z.
 */
export function measureChallenge(mesh: Mesh): ChallengeFacts {
  const { yaw, pitch } = headPose(mesh)
  const points = challengePointIndices.flatMap((index) => {
    const { x, y } = mesh.points[index] ?? { x: 0, y: 0 }
    return [roundTo(x), roundTo(y)]
  })
  return { yaw: roundTo(yaw), pitch: roundTo(pitch), points, fingerprint: faceFingerprint(mesh) }
}

function roundTo(value: number): number {
  return Math.round(value * 100) / 100
}
