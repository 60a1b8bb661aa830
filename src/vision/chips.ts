import { builtinPack } from '../models/builtin.ts'
import { arcfaceTemplate, fivePoints } from './arcface.ts'
import { meshLandmarks68, namedLandmarks } from './mesh.ts'
import type { Mesh } from './mesh.ts'
import type { Pyramid } from './pyramid.ts'
import { fitSimilarity } from './similarity.ts'
import type { Chip } from './warp.ts'

/** One face, aligned as each recognition network wants to see it. */
export type Chips = {
  /** 150×150 px, RGB 0..255: fitted to 33 landmarks as dlib's `get_face_chip` does. */
  readonly dlib: Chip
  /** 224×224 px, RGB 0..255: fitted to five points, as ArcFace's chip from farther away. */
  readonly faceres: Chip
}

/**
 * Cuts the chips of one face out of the frame.
 *
 * The landmarks are the mesh's: those of the landmark network are so much rougher that dlib loses
 * 3.5 % of its TAR at FMR 1e-4.
 */
export async function cutChips(pyramid: Pyramid, mesh: Mesh): Promise<Chips> {
  const landmarks = meshLandmarks68(mesh)
  const inner = dlibTemplate.map(({ landmark }) => landmarks[landmark] ?? { x: 0, y: 0 })
  const five = fivePoints(namedLandmarks(mesh))
  return {
    dlib: await pyramid.sample(fitSimilarity(dlibTemplate, inner), dlib.input),
    faceres: await pyramid.sample(fitSimilarity(faceresTemplate, five), faceres.input),
  }
}

const { face_recognition: dlib, faceres } = builtinPack.models

/** Which landmark of the 68 lies where in the chip, in continuous coordinates. */
const dlibTemplate = dlib.recipe.template.map(([landmark, x, y]) => {
  const { cropPadding: padding } = dlib.recipe
  // dlib names pixels by their centres: half a pixel more here.
  const along = (share: number, size: number): number =>
    ((padding + share) / (1 + 2 * padding)) * size + 0.5
  return { landmark, x: along(x, dlib.input.width), y: along(y, dlib.input.height) }
})

const faceresTemplate = arcfaceTemplate(faceres.input.width, faceres.recipe.templateScale)
