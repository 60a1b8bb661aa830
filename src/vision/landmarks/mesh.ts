import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { OrientedImage } from '../image/decode.ts'
import {
  type AffineTransform,
  type Point,
  type Rect,
  applyTransform,
  boundsOf,
  centreOf,
  cropTransform,
  meanOf,
  squareAround,
} from '../image/geometry.ts'
import { type ImagePyramid, type PlanarCrop, shrinkFactor } from '../image/pyramid.ts'
import { type ModelSession, requireOutput } from '../session.ts'
import { toTensor } from '../tensor.ts'
import meshRegions from './mesh-regions.json' with { type: 'json' }

/** Five points; left and right as seen in the image. */
export type Landmarks = {
  readonly leftEye: Point
  readonly rightEye: Point
  readonly noseTip: Point
  readonly leftMouth: Point
  readonly rightMouth: Point
}

/** The result of MediaPipe's mesh network for one face. */
export type Mesh = {
  /**
   * 468 points in continuous coordinates of the frame. z is in frame px too; it decreases towards
   * the camera and is about 0 at the middle of the head.
   */
  readonly points: readonly Point3[]
  /** The same points in continuous coordinates of the crop. */
  readonly cropPoints: readonly Point[]
  /** The probability that this is a face, 0..1, from the same network. */
  readonly faceScore: number
  /** The input of the network: the face rotated so that the eyes are level, 192×192. */
  readonly crop: PlanarCrop
  /** Frame px per crop px. */
  readonly cropScale: number
}

export type Point3 = Point & { readonly z: number }

/** Runs the mesh network on the crop that `toFrame` maps onto the frame. */
export async function predictMesh(
  session: ModelSession,
  pyramid: ImagePyramid,
  toFrame: AffineTransform,
): Promise<Mesh> {
  const { input } = session
  const crop = await pyramid.sample(toFrame, input)
  const outputs = await session.run(toTensor(crop, input))
  const values = requireOutput(outputs, 'Identity_2')
  const cropScale = shrinkFactor(toFrame)
  // The network returns coordinates of pixel centres; continuous coordinates start at pixel edges.
  const cropPoints = Array.from({ length: values.length / 3 }, (_, index) => ({
    x: (values[3 * index] ?? 0) + 0.5,
    y: (values[3 * index + 1] ?? 0) + 0.5,
  }))
  const points = cropPoints.map((point, index) => ({
    ...applyTransform(toFrame, point),
    z: (values[3 * index + 2] ?? 0) * cropScale,
  }))
  const faceScore = requireOutput(outputs, 'Identity_1')[0] ?? 0
  return { points, cropPoints, faceScore, crop, cropScale }
}

/** Returns the mesh points that correspond to the 68 landmarks of the iBUG order. */
export function meshLandmarks68({ points }: Mesh): Point[] {
  return constants.landmarks68.map((index) => points[index] ?? { x: 0, y: 0 })
}

/** Returns the five landmarks of a mesh in frame coordinates. Eyes: the centres of their outlines. */
export function meshLandmarks(mesh: Mesh): Landmarks {
  const points = meshLandmarks68(mesh)
  const pointAt = (index: number): Point => points[index] ?? { x: 0, y: 0 }
  return {
    ...eyeCentres(points),
    noseTip: pointAt(30),
    leftMouth: pointAt(48),
    rightMouth: pointAt(54),
  }
}

/**
 * Returns the crop for 68 rough landmarks: their bounds, enlarged and shifted up a little, rotated
 * so that the eyes are level.
 */
export function meshCropFromLandmarks(rough: readonly Point[]): AffineTransform {
  const bounds = boundsOf(rough)
  const longer = Math.max(bounds.width, bounds.height)
  const { x, y } = centreOf(bounds)
  const centre = { x, y: y + constants.centreShift * longer }
  const { leftEye, rightEye } = eyeCentres(rough)
  return cropTransform(
    squareAround(centre, constants.cropFactor * longer),
    input,
    radiansBetween(leftEye, rightEye),
  )
}

/**
 * Returns the crop for a face with a box and eyes from the detector. Rough landmarks are not needed.
 *
 * The box defines centre and size, because it hardly moves when the head turns. A fit to five points
 * shifts towards the nose (by 26 px of 192 at a yaw of 35°). Measured with MobileFaceNet on all pairs
 * of fold 1 of LFW, TAR at FMR 1e-3 and 1e-4:
 *
 * - rough landmarks: 97.2 and 95.0 %
 * - five points: 97.3 and 94.7 %
 * - box: 98.6 and 96.2 %
 *
 * Factors of 1.2 to 1.6 perform equally. With this one the quality scores are closest to those with
 * rough landmarks (the median is 1 higher).
 */
export function meshCropFromBox(box: Rect, [leftEye, rightEye]: readonly Point[]): AffineTransform {
  const radians = leftEye && rightEye ? radiansBetween(leftEye, rightEye) : 0
  const { x, y } = centreOf(box)
  const shift = cropShiftPerBox * box.height
  const centre = { x: x - shift * Math.sin(radians), y: y + shift * Math.cos(radians) }
  const side = cropSidePerBox * Math.max(box.width, box.height)
  return cropTransform(squareAround(centre, side), input, radians)
}

function radiansBetween(left: Point, right: Point): number {
  return Math.atan2(right.y - left.y, right.x - left.x)
}

/** The side of the crop, in longer sides of the box. */
const cropSidePerBox = 1.3
/** The distance of the crop's centre below the centre of the box, as a share of the box height. */
const cropShiftPerBox = 0.035

const { constants, input } = builtinPack.models.facemesh

/**
 * Returns the face box for the crops of the liveness networks, in continuous coordinates of the
 * frame: the bounds of the mesh, from the hairline to the chin. Boxes differ between detectors; with
 * the mesh, the score does not depend on the detector that found the face.
 */
export function meshBounds({ points }: Mesh): Rect {
  return boundsOf(points)
}

/**
 * Predicts the 68 points of the iBUG order (jaw 0–16, brows 17–26, nose 27–35, eyes 36–47, mouth
 * 48–67) in a face box, in continuous coordinates of the frame. Their error is 4 % of the distance
 * between the outer eye corners, which is enough to rotate the face for the mesh.
 */
export async function predictLandmarks68(session: ModelSession, pyramid: ImagePyramid, box: Rect) {
  const { input } = session
  const side = cropFactor * Math.max(box.width, box.height)
  const toFrame = cropTransform(squareAround(centreOf(box), side), input)
  const outputs = await session.run(toTensor(await pyramid.sample(toFrame, input), input))
  const points = requireOutput(outputs, 'landmarks')
  return Array.from({ length: points.length / 2 }, (_, index) =>
    applyTransform(toFrame, {
      x: (points[2 * index] ?? 0) * input.width,
      y: (points[2 * index + 1] ?? 0) * input.height,
    }),
  )
}

/** Returns the centres of the eye outlines in the 68 points; left and right as in the image. */
function eyeCentres(points: readonly Point[]) {
  return { leftEye: meanOf(points.slice(36, 42)), rightEye: meanOf(points.slice(42, 48)) }
}

const { cropFactor } = builtinPack.models.face_landmark_68.constants

/** Degrees. yaw > 0: nose points to image right; pitch > 0: nose points up; roll > 0: clockwise. */
export type HeadPose = { readonly yaw: number; readonly pitch: number; readonly roll: number }

/**
 * Computes the direction of the head.
 *
 * Points of the mesh span two axes of the head: across (temple to temple) and down (corners of the
 * eyes to corners of the mouth). Their cross product is the direction of the nose. The roll is removed
 * first, so that a tilted head that faces the camera has neither yaw nor pitch.
 */
export function headPose({ points }: Mesh): HeadPose {
  const pointAt = (index: number): Point3 => points[index] ?? { x: 0, y: 0, z: 0 }
  const across = subtract(pointAt(temples.right), pointAt(temples.left))
  const down = subtract(meanOf3(mouthCorners.map(pointAt)), meanOf3(eyeCorners.map(pointAt)))
  const ahead = cross(down, across)
  const roll = Math.atan2(across.y, across.x)
  const sideways = ahead.x * Math.cos(roll) + ahead.y * Math.sin(roll)
  const downwards = ahead.y * Math.cos(roll) - ahead.x * Math.sin(roll)
  return {
    yaw: degrees(Math.atan2(sideways, -ahead.z)),
    pitch: degrees(Math.atan2(-downwards, Math.hypot(sideways, ahead.z))) - levelPitch,
    roll: degrees(roll),
  }
}

/** Indices of mesh points; left and right as seen in the image. */
const temples = { left: 234, right: 454 }

/**
 * Of five pairs of points along the height of a face, this pair gives the pitch with the highest
 * correlation to the height of the nose between eyes and mouth: 0.93 on 806 press photographs. From
 * the forehead to the chin, as in `human`, it is 0.89.
 */
const eyeCorners = [33, 133, 362, 263]
const mouthCorners = [61, 291]

/** The result of the formula for a level head, degrees: the median over the same photographs. */
const levelPitch = 1.3

function meanOf3(points: readonly Point3[]): Point3 {
  const z = points.reduce((sum, point) => sum + point.z, 0) / points.length
  return { ...meanOf(points), z }
}

function subtract(a: Point3, b: Point3): Point3 {
  return { x: a.x - b.x, y: a.y - b.y, z: a.z - b.z }
}

function cross(a: Point3, b: Point3): Point3 {
  return { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x }
}

function degrees(radians: number): number {
  return (radians * 180) / Math.PI
}

/** The size and position of a head in the oriented image. */
export type HeadPosition = ReturnType<typeof headPosition>

/** Returns the position of the head in the whole image. */
export function headPosition(mesh: Mesh, { width, height, frame }: OrientedImage) {
  const { leftEye, rightEye, eyes, heightPx } = headGeometry(mesh)
  const toImage = width / frame.width
  return {
    /** Chin to crown as a share of the image height; the position of the crown is estimated. */
    heightShare: (heightPx * toImage) / height,
    /** The point midway between the eyes, as shares of the image width and height, 0..1. */
    eyeMidpoint: { x: eyes.x / frame.width, y: eyes.y / frame.height },
    /** Distance between the eye centres, px of the image. */
    eyeDistancePx: Math.hypot(rightEye.x - leftEye.x, rightEye.y - leftEye.y) * toImage,
  }
}

/**
 * Returns the head in continuous coordinates of the frame.
 *
 * No network detects the top of the head. The eyes are half-way between chin and crown, according to
 * the proportions that artists use. The height of the head is therefore twice the distance between
 * the chin and the eyes.
 */
export function headGeometry(mesh: Mesh) {
  const { leftEye, rightEye } = eyeCentres(meshLandmarks68(mesh))
  const eyes = meanOf([leftEye, rightEye])
  const chin: Point = mesh.points[chinIndex] ?? eyes
  return {
    leftEye,
    rightEye,
    eyes,
    chin,
    heightPx: 2 * Math.hypot(chin.x - eyes.x, chin.y - eyes.y),
  }
}

const chinIndex = 152

/**
 * Parts of a face as outlines of mesh points (0..467); left and right as seen in the image. An eye has
 * its lids, and an opening is the visible part of the eye between them. The mouth has the skin around
 * the lips. The forehead ends below the hair of most people. The oval is the edge of the face.
 */
export { meshRegions }

export type MeshRegion = keyof typeof meshRegions
