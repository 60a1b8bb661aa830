import type { Decoding } from '../../models/pack.ts'
import type { Size } from '../network-input.ts'
import type { Session } from '../session.ts'
import { gridOf, outputOf, scoreMin } from './raw-face.ts'
import type { Decode, RawFace } from './raw-face.ts'

type Recipe = Extract<Decoding, { kind: 'retinaface' }>

/**
 * RetinaFace (Deng et al. 2020, as biubug6's Pytorch_Retinaface exports it): three outputs over all
 * priors. A prior is a square about the centre of its cell; boxes and points are offsets from it
 * in units of its side times the first variance, the logarithm of a side in the second.
 *
 * @throws Error naming the file when strides and sides of the priors do not go together.
 */
export function retinaface({ place }: Session, recipe: Recipe): Decode {
  const { outputs: names, variances } = recipe
  const [shift, growth] = variances
  if (recipe.strides.length !== recipe.priorSides.length)
    throw new Error(
      `${place}: the manifest has ${recipe.strides.length} strides, ` +
        `but sides of priors for ${recipe.priorSides.length}`,
    )
  return (outputs, size) => {
    const priors = priorsOf(size, recipe)
    const { length } = priors
    const boxes = outputOf(place, outputs, { name: names.boxes, length: 4 * length })
    const scores = outputOf(place, outputs, { name: names.scores, length: 2 * length })
    const points = outputOf(place, outputs, { name: names.points, length: 10 * length })
    const faces: RawFace[] = []
    for (const [index, { x, y, side }] of priors.entries()) {
      const score = scores[2 * index + 1] ?? 0
      if (score < scoreMin) continue
      const [dx = 0, dy = 0, w = 0, h = 0] = boxes.subarray(4 * index, 4 * index + 4)
      const [width, height] = [side * Math.exp(w * growth), side * Math.exp(h * growth)]
      const along = (from: number, offset = 0): number => from + offset * shift * side
      faces.push({
        score,
        box: { x: along(x, dx) - width / 2, y: along(y, dy) - height / 2, width, height },
        points: Array.from({ length: 5 }, (_, point) => ({
          x: along(x, points[10 * index + 2 * point]),
          y: along(y, points[10 * index + 2 * point + 1]),
        })),
      })
    }
    return faces
  }
}

/** A square of `side` about (x, y), px of the input. */
type Prior = { readonly x: number; readonly y: number; readonly side: number }

/** Stride by stride, row by row, the sides of a cell in the order of the manifest. */
function priorsOf(size: Size, { strides, priorSides }: Recipe): Prior[] {
  return strides.flatMap((stride, level) => {
    const { columns, cells } = gridOf(size, stride)
    return Array.from({ length: cells }, (_, cell) => ({
      x: ((cell % columns) + 0.5) * stride,
      y: (Math.floor(cell / columns) + 0.5) * stride,
    })).flatMap((middle) => (priorSides[level] ?? []).map((side) => ({ ...middle, side })))
  })
}
