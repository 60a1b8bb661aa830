import type { Decoding } from '../../../models/decoding.ts'
import type { ImageSize } from '../../image/geometry.ts'
import type { ModelSession } from '../../session.ts'
import {
  cellGrid,
  readOutput,
  candidateScoreMin,
  type DecodeDetections,
  type RawDetection,
} from './raw-detection.ts'

type RetinafaceDecoding = Extract<Decoding, { kind: 'retinaface' }>

/**
 * Decodes RetinaFace (Deng et al. 2020, as biubug6's Pytorch_Retinaface exports it): three outputs
 * over all priors. A prior is a square around the centre of its cell. Box centres and points are
 * offsets from that centre, in units of the prior's side times the first variance. Box sides are
 * logarithms, in units of the second variance.
 *
 * @throws Error naming the file if the manifest has different numbers of strides and prior sides.
 */
export function retinaface(
  { filePath }: ModelSession,
  decoding: RetinafaceDecoding,
): DecodeDetections {
  const { outputs: names, variances } = decoding
  const [centreVariance, sizeVariance] = variances
  if (decoding.strides.length !== decoding.priorSides.length)
    throw new Error(
      `${filePath}: the manifest has ${decoding.strides.length} strides, ` +
        `but sides of priors for ${decoding.priorSides.length}`,
    )
  return (outputs, size) => {
    const priors = priorBoxes(size, decoding)
    const { length } = priors
    const boxes = readOutput(filePath, outputs, { name: names.boxes, length: 4 * length })
    const scores = readOutput(filePath, outputs, { name: names.scores, length: 2 * length })
    const points = readOutput(filePath, outputs, { name: names.points, length: 10 * length })
    const detections: RawDetection[] = []
    for (const [index, { x, y, side }] of priors.entries()) {
      const score = scores[2 * index + 1] ?? 0
      if (score < candidateScoreMin) continue
      const [dx = 0, dy = 0, w = 0, h = 0] = boxes.subarray(4 * index, 4 * index + 4)
      const [width, height] = [side * Math.exp(w * sizeVariance), side * Math.exp(h * sizeVariance)]
      const moveFrom = (centre: number, offset = 0): number =>
        centre + offset * centreVariance * side
      detections.push({
        score,
        box: { x: moveFrom(x, dx) - width / 2, y: moveFrom(y, dy) - height / 2, width, height },
        landmarkPoints: Array.from({ length: 5 }, (_, point) => ({
          x: moveFrom(x, points[10 * index + 2 * point]),
          y: moveFrom(y, points[10 * index + 2 * point + 1]),
        })),
      })
    }
    return detections
  }
}

/** A square of `side` around (x, y), px of the input. */
type PriorBox = { readonly x: number; readonly y: number; readonly side: number }

/** Returns the priors by stride, then row, then cell, with the sides in the order of the manifest. */
function priorBoxes(size: ImageSize, { strides, priorSides }: RetinafaceDecoding): PriorBox[] {
  return strides.flatMap((stride, level) => {
    const { columns, cells } = cellGrid(size, stride)
    return Array.from({ length: cells }, (_, cell) => ({
      x: ((cell % columns) + 0.5) * stride,
      y: (Math.floor(cell / columns) + 0.5) * stride,
    })).flatMap((centre) => (priorSides[level] ?? []).map((side) => ({ ...centre, side })))
  })
}
