import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import type { ImagePyramid } from '../image/pyramid.ts'
import { fitSimilarityTransform } from '../image/similarity-transform.ts'
import type { PlanarCrop } from '../image/warp.ts'
import { arcfaceTemplate, landmarkPoints } from '../landmarks/arcface-template.ts'
import { meshLandmarks68, meshLandmarks } from '../landmarks/mesh.ts'
import type { Mesh } from '../landmarks/mesh.ts'

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

const { face_recognition: dlib, faceres } = builtinPack.models

/** The position of each of 33 landmarks in the crop, in continuous coordinates. */
const dlibTemplate = dlib.constants.template.map(([landmark, x, y]) => {
  const { cropPadding } = dlib.constants
  // dlib uses the coordinates of pixel centres; half a pixel is added here.
  const toCrop = (share: number, size: number): number =>
    ((cropPadding + share) / (1 + 2 * cropPadding)) * size + 0.5
  return { landmark, x: toCrop(x, dlib.input.width), y: toCrop(y, dlib.input.height) }
})

const faceresTemplate = arcfaceTemplate(faceres.input.width, faceres.constants.templateScale)
