import { rotationOf } from '../../../eval/challenge/render-surface.ts'
import { seededRandom } from '../../../src/lib/random/seeded-random.ts'
import { type Mesh, type Point3, headPose } from '../../../src/vision/landmarks/mesh.ts'

/** Moves the centre of the face to the origin and turns the face to the camera. */
export function toFrontal(face: Mesh): Mesh {
  const mean = (axis: 'x' | 'y' | 'z'): number =>
    face.points.reduce((sum, point) => sum + point[axis], 0) / face.points.length
  const centre = { x: mean('x'), y: mean('y'), z: mean('z') }
  let points = face.points.map(({ x, y, z }) => ({
    x: x - centre.x,
    y: y - centre.y,
    z: z - centre.z,
  }))
  for (let i = 0; i < 3; i++) {
    const { yaw, pitch, roll } = headPose({ ...face, points })
    points = points.map(rotationOf({ yaw: -yaw, pitch: -pitch, roll: -roll }))
  }
  return { ...face, points }
}

/**
 * The mesh network flattens frontal faces: the points of turned heads move as those of a mesh that is
 * deeper by this factor (median depth of people 0.46, of the rotated mesh itself 0.35).
 */
const meshDepthFactor = 1.5

/** Returns the points of a turned face; `depth` 1 is the face, 0 a picture of it. */
export function turnedPoints(
  mesh: Mesh,
  view: { readonly yaw: number; readonly pitch: number },
  depth: number,
): Point3[] {
  const turn = rotationOf({ ...view, roll: 4 })
  return mesh.points.map(({ x, y, z }) => turn({ x, y, z: depth * meshDepthFactor * z }))
}

/** Noise in the format of a fingerprint. */
export function fingerprint(seed: number): string {
  const random = seededRandom(seed)
  return Buffer.from(Array.from({ length: 1024 }, () => 255 * random())).toString('base64')
}

/** Waves of luma, as a face has: 32×32 px. */
export function smoothFingerprint(seed: number): string {
  const random = seededRandom(seed)
  const waves = Array.from({ length: 6 }, () => ({
    x: random() - 0.5,
    y: random() - 0.5,
    phase: 6 * random(),
  }))
  const lumaAt = (index: number): number =>
    waves.reduce(
      (sum, { x, y, phase }) =>
        sum + 18 * Math.sin(x * (index % 32) + y * Math.floor(index / 32) + phase),
      128,
    )
  return Buffer.from(Array.from({ length: 1024 }, (_, index) => lumaAt(index))).toString('base64')
}
