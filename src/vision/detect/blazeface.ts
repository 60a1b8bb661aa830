import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { type Frame, resizeFrame } from '../image/decode.ts'
import { type Point, scaleRect, scaleSize, suppressOverlaps } from '../image/geometry.ts'
import { type ImagePyramid, framePyramid } from '../image/pyramid.ts'
import { type ModelSession, requireOutput } from '../session.ts'
import { letterboxInShape } from '../tensor.ts'
import { type DetectorCandidate, toFaceBox } from './detection.ts'

/**
 * Runs MediaPipe's BlazeFace (back camera) on the whole frame. The frame is scaled to 256 px on its
 * longer side and not padded to a square, because the time is proportional to the area.
 *
 * Each anchor has a logit and sixteen numbers relative to it, in px of the input: the centre and size
 * of the box, then six key points.
 */
export async function runBlazeface(session: ModelSession, pyramid: ImagePyramid) {
  const { input, tensor, scaleX, scaleY } = letterboxInShape(pyramid, session.input)
  const outputs = await session.run(tensor, input)
  const candidates: DetectorCandidate[] = []
  for (const { logits, boxes, stridePx, perCell } of constants.anchors) {
    const columns = input.width / stridePx
    const boxValues = requireOutput(outputs, boxes)
    requireOutput(outputs, logits).forEach((logit, index) => {
      const score = 1 / (1 + Math.exp(-logit))
      if (score < scoreMin) return
      // The anchors are in the centres of the cells, row by row, several in each.
      const cell = Math.floor(index / perCell)
      const anchorX = ((cell % columns) + 0.5) * stridePx
      const anchorY = (Math.floor(cell / columns) + 0.5) * stridePx
      const values = boxValues.subarray(index * 16, index * 16 + 16)
      const [x = 0, y = 0, width = 0, height = 0] = values
      if (width <= 0 || height <= 0) return
      const square = { x: anchorX + x - width / 2, y: anchorY + y - height / 2, width, height }
      const box = toFaceBox(scaleRect(square, scaleX, scaleY), squareToFace)
      const pointAt = (offset: number): Point => ({
        x: (anchorX + (values[offset] ?? 0)) * scaleX,
        y: (anchorY + (values[offset + 1] ?? 0)) * scaleY,
      })
      // The box has four values. The first two key points are the eyes.
      const eyes = [pointAt(4), pointAt(6)] as const
      candidates.push(score < eyesScoreMin ? { box, score } : { box, score, eyes })
    })
  }
  return suppressOverlaps(candidates, ({ score }) => score, constants.overlapMax)
}

/** Lower scores have no effect when the detectors are combined. */
const scoreMin = 0.05
/** The mesh of a less probable face must be independent of this network, which it confirms. */
const eyesScoreMin = 0.5

const { constants } = builtinPack.models.blazeface

/**
 * From the square of BlazeFace (brows to chin) to the box that the SSD would return.
 *
 * The factors are medians over 820 faces that both detectors found with high confidence. The result
 * is as close to the bounds of the mesh as the box of the SSD (mean IoU 0.84 and 0.82), and landmarks
 * are equally good. Therefore all boxes are of one kind, whichever detector found the face.
 */
const squareToFace = { left: 0.009, top: -0.147, width: 0.956, height: 1.129 }

/**
 * Detects faces that fill the frame. The largest anchors of BlazeFace and the SSD are smaller than
 * such a face: both return weak boxes of parts of it. Here the frame is scaled to half the side of
 * the network's input and surrounded by black.
 */
export async function detectLargeFaces(session: ModelSession, pyramid: ImagePyramid) {
  const { frame } = pyramid
  const side = session.input.width
  const scale = (frameShare * side) / Math.max(frame.width, frame.height)
  const size = scaleSize(frame, scale)
  const left = Math.floor((side - size.width) / 2)
  const top = Math.floor((side - size.height) / 2)
  const small = await resizeFrame(pyramid.levelForScale(scale), size)
  const candidates = await runBlazeface(
    session,
    framePyramid(surroundWithBlack(small, { side, left, top })),
  )
  const scaleX = frame.width / size.width
  const scaleY = frame.height / size.height
  return candidates.map(({ box, score }) => ({
    score,
    box: scaleRect({ ...box, x: box.x - left, y: box.y - top }, scaleX, scaleY),
  }))
}

/**
 * Whether the frame can show a face that fills it: BlazeFace returned a large box with a low score.
 * That is true for 12 % of 566 pictures without a face, and for each of 14 faces that were missed.
 */
export function canShowLargeFace(candidates: readonly DetectorCandidate[], frame: Frame): boolean {
  const sideMin = partSideShareMin * Math.max(frame.width, frame.height)
  return candidates.some(
    ({ box, score }) => score >= partScoreMin && Math.max(box.width, box.height) >= sideMin,
  )
}

/** Returns a square frame of `side` px that shows `frame` at (`left`, `top`). */
function surroundWithBlack(
  { width, height, pixels }: Frame,
  { side, left, top }: { readonly side: number; readonly left: number; readonly top: number },
): Frame {
  const square = new Uint8Array(3 * side * side)
  for (let row = 0; row < height; row++)
    square.set(
      pixels.subarray(3 * row * width, 3 * (row + 1) * width),
      3 * ((top + row) * side + left),
    )
  return { width: side, height: side, pixels: square }
}

/** The longer side of the frame as a share of the side of the input. */
const frameShare = 0.5
const partScoreMin = 0.2
/** Of the longer side of the frame. */
const partSideShareMin = 0.4
