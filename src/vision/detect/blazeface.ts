import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { suppressOverlaps } from '../image/geometry.ts'
import type { Point, Rect } from '../image/geometry.ts'
import type { ImagePyramid } from '../image/pyramid.ts'
import { requireOutput } from '../session.ts'
import type { ModelSession } from '../session.ts'
import { letterbox } from '../tensor.ts'
import type { DetectorCandidate } from './detection.ts'

/**
 * Runs MediaPipe's BlazeFace (back camera) on the whole frame.
 *
 * Each anchor has a logit and sixteen numbers relative to it, in px of the 256 px square: the centre
 * and size of the box, then six key points.
 */
export async function runBlazeface(
  session: ModelSession,
  pyramid: ImagePyramid,
): Promise<DetectorCandidate[]> {
  const { tensor, scaleX, scaleY } = letterbox(pyramid, session.input)
  const outputs = await session.run(tensor)
  const candidates: DetectorCandidate[] = []
  for (const { logits, boxes, anchors } of layers) {
    const boxValues = requireOutput(outputs, boxes)
    requireOutput(outputs, logits).forEach((logit, index) => {
      const score = sigmoid(logit)
      if (score < scoreMin) return
      const { x: anchorX, y: anchorY } = anchors[index] ?? { x: 0, y: 0 }
      const [x = 0, y = 0, width = 0, height = 0] = boxValues.subarray(index * 16, index * 16 + 4)
      if (width <= 0 || height <= 0) return
      const box = toFaceBox({
        x: (anchorX + x - width / 2) * scaleX,
        y: (anchorY + y - height / 2) * scaleY,
        width: width * scaleX,
        height: height * scaleY,
      })
      candidates.push({ box, score })
    })
  }
  return suppressOverlaps(candidates, ({ score }) => score, constants.overlapMax)
}

/** Lower scores have no effect when the detectors are combined. */
const scoreMin = 0.05

const { constants, input } = builtinPack.models.blazeface

/** The two grids of anchors, each with its outputs. */
const layers = constants.anchors.map(({ stridePx, perCell, logits, boxes }) => ({
  logits,
  boxes,
  anchors: anchorGrid(stridePx, perCell),
}))

/** Returns anchors row by row: `perCell` in the centre of each cell, in px of the square. */
function anchorGrid(stride: number, perCell: number): Point[] {
  const cells = input.width / stride
  return Array.from({ length: cells * cells * perCell }, (_, index) => {
    const cell = Math.floor(index / perCell)
    return { x: ((cell % cells) + 0.5) * stride, y: (Math.floor(cell / cells) + 0.5) * stride }
  })
}

/**
 * Converts BlazeFace's square (brows to chin) to the box that the SSD would return.
 *
 * The factors are medians over 820 faces that both detectors found with high confidence. The result
 * is as close to the bounds of the mesh as the box of the SSD (mean IoU 0.84 and 0.82), and landmarks
 * are equally good. Therefore all boxes are of one kind, whichever detector found the face.
 */
function toFaceBox({ x, y, width, height }: Rect): Rect {
  return {
    x: x + 0.009 * width,
    y: y - 0.147 * height,
    width: 0.956 * width,
    height: 1.129 * height,
  }
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit))
}
