import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { suppressOverlaps } from '../image/geometry.ts'
import type { Rect } from '../image/geometry.ts'
import type { Frame } from '../image/frame.ts'
import { requireOutput } from '../session.ts'
import type { ModelSession } from '../session.ts'
import { letterbox } from '../tensor.ts'
import type { Point } from '../image-analysis.ts'

/** One answer of one detector, in continuous coordinates of the frame. */
export type DetectorCandidate = {
  /** From the hairline to the chin, from cheek to cheek, whichever detector saw it. */
  readonly box: Rect
  /** The network's own score, 0..1. */
  readonly score: number
}

/**
 * Runs MediaPipe's BlazeFace (back camera) over the whole frame.
 *
 * Every anchor gives a logit and sixteen numbers relative to it, in px of the 256 px square: the
 * box's centre and size, then six key points.
 */
export async function runBlazeface(
  session: ModelSession,
  frame: Frame,
): Promise<DetectorCandidate[]> {
  const { tensor, scaleX, scaleY } = await letterbox(frame, session.input)
  const outputs = await session.run(tensor)
  const candidates: DetectorCandidate[] = []
  for (const { logits, boxes, anchors } of layers) {
    const answers = requireOutput(outputs, boxes)
    requireOutput(outputs, logits).forEach((logit, index) => {
      const score = sigmoid(logit)
      if (score < scoreMin) return
      const { x: anchorX, y: anchorY } = anchors[index] ?? { x: 0, y: 0 }
      const [x = 0, y = 0, width = 0, height = 0] = answers.subarray(index * 16, index * 16 + 4)
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
  return suppressOverlaps(candidates, ({ score }) => score, recipe.overlapMax)
}

/** Below this nothing counts in the rule that combines the detectors. */
const scoreMin = 0.05

const { constants: recipe, input } = builtinPack.models.blazeface

/** The two grids of anchors, each with the outputs that belong to it. */
const layers = recipe.anchors.map(({ stridePx, perCell, logits, boxes }) => ({
  logits,
  boxes,
  anchors: anchorGrid(stridePx, perCell),
}))

/** Anchors row by row in the centres of their cells, `perCell` in one place; px of the square. */
function anchorGrid(stride: number, perCell: number): Point[] {
  const cells = input.width / stride
  return Array.from({ length: cells * cells * perCell }, (_, index) => {
    const cell = Math.floor(index / perCell)
    return { x: ((cell % cells) + 0.5) * stride, y: (Math.floor(cell / cells) + 0.5) * stride }
  })
}

/**
 * BlazeFace's square (brows to chin) as the box the SSD would draw, by the medians over 820 faces
 * that both were sure of. It lies as near to the mesh's bounds as the SSD's own (mean IoU 0.84 and
 * 0.82), and landmarks come out as well from it; so there is one kind of box, to crop from and to
 * report, and it does not tell which detector drew it.
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
