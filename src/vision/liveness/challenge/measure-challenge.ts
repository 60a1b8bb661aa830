import { headPose } from '../../landmarks/head-pose.ts'
import type { Mesh } from '../../landmarks/mesh.ts'
import type { ChallengeFacts } from './challenge.ts'

/** Returns the measurements of one face that a challenge is judged by. */
export function measureChallenge(mesh: Mesh): ChallengeFacts {
  const { yaw, pitch } = headPose(mesh)
  const points = challengePoints.flatMap((index) => {
    const { x, y } = mesh.points[index] ?? { x: 0, y: 0 }
    return [roundTo(x), roundTo(y)]
  })
  return { yaw: roundTo(yaw), pitch: roundTo(pitch), points, fingerprint: faceFingerprint(mesh) }
}

/** Mesh points of the measurements, one after another in `ChallengeFacts.points`. */
export const challengePoints = Array.from({ length: 468 }, (_, index) => index)

/** Side of the fingerprint, px. Each pixel is the mean of 6 × 6 pixels of the mesh crop. */
export const fingerprintSidePx = 32

function faceFingerprint({ crop: { planes, width, height } }: Mesh): string {
  const size = width * height
  const cell = width / fingerprintSidePx
  const sums = new Float64Array(fingerprintSidePx ** 2)
  for (let i = 0; i < size; i++) {
    const luma =
      0.299 * (planes[i] ?? 0) +
      0.587 * (planes[i + size] ?? 0) +
      0.114 * (planes[i + 2 * size] ?? 0)
    const row = Math.floor(i / width / cell)
    const index = row * fingerprintSidePx + Math.floor((i % width) / cell)
    sums[index] = (sums[index] ?? 0) + luma
  }
  return Buffer.from(sums.map((sum) => Math.round(sum / cell ** 2))).toString('base64')
}

function roundTo(value: number): number {
  return Math.round(value * 100) / 100
}
