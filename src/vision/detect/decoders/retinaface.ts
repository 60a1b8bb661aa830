import type { Decoding } from '../../../models/decoding.ts'
import type { ImageSize } from '../../network-input.ts'
import type { ModelSession } from '../../session.ts'
import { cellGrid, readOutput, candidateScoreMin } from './raw-detection.ts'
import type { DecodeDetections, RawDetection } from './raw-detection.ts'

type RetinafaceDecoding = Extract<Decoding, { kind: 'retinaface' }>

/**
 * RetinaFace (Deng et al. 2020, as biubug6's Pytorch_Retinaface exports it): three outputs over all
 * priors. A prior is a square about the centre of its cell; boxes and points are offsets from it
 * in units of its side times the first variance, the logarithm of a side in the second.
 *
 * @throws Error naming the file when strides and sides of the priors do not go together.
 */
export function retinaface(
  { filePath: place }: ModelSession,
  recipe: RetinafaceDecoding,
): DecodeDetections {
  const { outputs: names, variances } = recipe
  const [shift, growth] = variances
  if (recipe.strides.length !== recipe.priorSides.length)
    throw new Error(
      `${place}: the manifest has ${recipe.strides.length} strides, ` +
        `but sides of priors for ${recipe.priorSides.length}`,
    )
  return (outputs, size) => {
    const priors = priorBoxes(size, recipe)
    const { length } = priors
    const boxes = readOutput(place, outputs, { name: names.boxes, length: 4 * length })
    const scores = readOutput(place, outputs, { name: names.scores, length: 2 * length })
    const points = readOutput(place, outputs, { name: names.points, length: 10 * length })
    const faces: RawDetection[] = []
    for (const [index, { x, y, side }] of priors.entries()) {
      const score = scores[2 * index + 1] ?? 0
      if (score < candidateScoreMin) continue
      const [dx = 0, dy = 0, w = 0, h = 0] = boxes.subarray(4 * index, 4 * index + 4)
      const [width, height] = [side * Math.exp(w * growth), side * Math.exp(h * growth)]
      const along = (from: number, offset = 0): number => from + offset * shift * side
      faces.push({
        score,
        box: { x: along(x, dx) - width / 2, y: along(y, dy) - height / 2, width, height },
        landmarkPoints: Array.from({ length: 5 }, (_, point) => ({
          x: along(x, points[10 * index + 2 * point]),
          y: along(y, points[10 * index + 2 * point + 1]),
        })),
      })
    }
    return faces
  }
}

/** A square of `side` about (x, y), px of the input. */
type PriorBox = { readonly x: number; readonly y: number; readonly side: number }

/** Stride by stride, row by row, the sides of a cell in the order of the manifest. */
function priorBoxes(size: ImageSize, { strides, priorSides }: RetinafaceDecoding): PriorBox[] {
  return strides.flatMap((stride, level) => {
    const { columns, cells } = cellGrid(size, stride)
    return Array.from({ length: cells }, (_, cell) => ({
      x: ((cell % columns) + 0.5) * stride,
      y: (Math.floor(cell / columns) + 0.5) * stride,
    })).flatMap((middle) => (priorSides[level] ?? []).map((side) => ({ ...middle, side })))
  })
}
