import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ImagePyramid, PlanarCrop } from '../image/pyramid.ts'
import { fitSimilarityTransform, type Point } from '../image/geometry.ts'
import { meshLandmarks68, meshLandmarks, type Landmarks, type Mesh } from '../landmarks/mesh.ts'

/**
 * Samples the crop of dlib: 150×150 px, RGB 0..255, fitted to 33 landmarks as dlib's `get_face_chip`
 * does.
 *
 * The landmarks are those of the mesh. With the less accurate points of the landmark network, dlib
 * loses 3.5 % of its TAR at FMR 1e-4.
 */
export function sampleDlibCrop(pyramid: ImagePyramid, mesh: Mesh): Promise<PlanarCrop> {
  const landmarks = meshLandmarks68(mesh)
  const points = dlibTemplate.map(({ landmark }) => landmarks[landmark] ?? { x: 0, y: 0 })
  return pyramid.sample(fitSimilarityTransform(dlibTemplate, points), dlib.input)
}

/**
 * Samples the crop of faceres: 224×224 px, RGB 0..255, fitted to five points like ArcFace's crop, with
 * the face smaller.
 */
export function sampleFaceresCrop(pyramid: ImagePyramid, mesh: Mesh): Promise<PlanarCrop> {
  const points = landmarkPoints(meshLandmarks(mesh))
  return pyramid.sample(fitSimilarityTransform(faceresTemplate, points), faceres.input)
}

/**
 * Returns the positions of the five points in a crop of `size` px that is aligned like the 112 px
 * crop of ArcFace (Deng et al. 2019, `arcface_dst` of insightface). `zoom` scales the face around the
 * centre of the crop. The result is in continuous coordinates, in the order of `landmarkPoints`.
 *
 * The source uses the coordinates of pixel centres; half a pixel is added here.
 */
export function arcfaceTemplate(size: number, zoom = 1): Point[] {
  const scale = (position: number): number =>
    ((position - centrePx) * zoom + centrePx) * (size / sidePx) + 0.5
  return templatePoints.map(({ x, y }) => ({ x: scale(x), y: scale(y) }))
}

/** Returns the landmarks in the order of the template. */
export function landmarkPoints(landmarks: Landmarks): Point[] {
  const { leftEye, rightEye, noseTip, leftMouth, rightMouth } = landmarks
  return [leftEye, rightEye, noseTip, leftMouth, rightMouth]
}

const sidePx = 112
/** The fixed point of the zoom, in the coordinates of the source. */
const centrePx = sidePx / 2

/** Left eye, right eye, nose tip, left and right corner of the mouth. */
const templatePoints = [
  { x: 38.2946, y: 51.6963 },
  { x: 73.5318, y: 51.5014 },
  { x: 56.0252, y: 71.7366 },
  { x: 41.5493, y: 92.3655 },
  { x: 70.7299, y: 92.2041 },
]

const { face_recognition: dlib, faceres } = builtinPack.models

/** The position of each of 33 landmarks in the crop, in continuous coordinates. */
const dlibTemplate = dlib.constants.template.map(([landmark = 0, x = 0, y = 0]) => {
  const { cropPadding } = dlib.constants
  // dlib uses the coordinates of pixel centres; half a pixel is added here.
  const toCrop = (share: number, size: number): number =>
    ((cropPadding + share) / (1 + 2 * cropPadding)) * size + 0.5
  return { landmark, x: toCrop(x, dlib.input.width), y: toCrop(y, dlib.input.height) }
})

const faceresTemplate = arcfaceTemplate(faceres.input.width, faceres.constants.templateScale)
