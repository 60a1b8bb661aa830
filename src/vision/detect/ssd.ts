import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { suppressOverlaps, type ImageSize, type Rect } from '../image/geometry.ts'
import type { ImagePyramid } from '../image/pyramid.ts'
import { requireOutput, type ModelSession } from '../session.ts'
import { letterboxInShape } from '../tensor.ts'
import type { DetectorCandidate } from './detection.ts'

/**
 * Runs face-api's SSD MobileNet v1 on the whole frame: ten times slower than BlazeFace, better for
 * small faces. The frame is scaled to 512 px on its longer side and not padded to a square, because
 * the time is proportional to the area. The input comes from a level of the pyramid.
 *
 * Each anchor has a logit and four numbers relative to it: the centre of the box in tenths of the
 * size of the anchor, vertical first, then the logarithm of the size in fifths.
 */
export async function runSsd(session: ModelSession, pyramid: ImagePyramid) {
  const { frame } = pyramid
  const { input, tensor, scaleX, scaleY } = letterboxInShape(pyramid, session.input)
  const outputs = await session.run(tensor, input)
  const encodings = requireOutput(outputs, 'encodings')
  const candidates: DetectorCandidate[] = []
  for (const { index, anchor, score } of scoredAnchors(requireOutput(outputs, 'logits'), input)) {
    const decoded = decodeBox(encodings.subarray(4 * index, 4 * index + 4), anchor)
    const x = Math.max(0, decoded.x) * scaleX
    const y = Math.max(0, decoded.y) * scaleY
    const width = Math.min(frame.width, (decoded.x + decoded.width) * scaleX) - x
    const height = Math.min(frame.height, (decoded.y + decoded.height) * scaleY) - y
    if (width > 0 && height > 0) candidates.push({ box: { x, y, width, height }, score })
  }
  return suppressOverlaps(candidates, ({ score }) => score, constants.overlapMax)
}

const { constants, input: trainedInput } = builtinPack.models.ssd_mobilenetv1

/** Lower scores have no effect when the detectors are combined. */
const scoreMin = 0.05
const logitMin = Math.log(scoreMin / (1 - scoreMin))

/** The anchors from the minimum score on. They are ordered by layer, row, column and shape. */
function* scoredAnchors(logits: Float32Array, input: ImageSize) {
  let first = 0
  for (const { stridePx, shapes } of constants.layers) {
    const columns = Math.ceil(input.width / stridePx)
    const count = columns * Math.ceil(input.height / stridePx) * shapes.length
    for (let offset = 0; offset < count; offset++) {
      const logit = logits[first + offset] ?? 0
      if (logit < logitMin) continue
      const cell = Math.floor(offset / shapes.length)
      const [width = 0, height = 0] = shapes[offset % shapes.length] ?? []
      /** px of the input: the centre and the size. */
      const anchor: Rect = {
        x: ((cell % columns) + 0.5) * stridePx,
        y: (Math.floor(cell / columns) + 0.5) * stridePx,
        width: width * trainedInput.width,
        height: height * trainedInput.height,
      }
      yield { index: first + offset, anchor, score: 1 / (1 + Math.exp(-logit)) }
    }
    first += count
  }
}

/** @param anchor its centre and size. Returns the box by its top left corner. */
function decodeBox([dy = 0, dx = 0, dh = 0, dw = 0]: Iterable<number>, anchor: Rect): Rect {
  const width = Math.exp(dw / 5) * anchor.width
  const height = Math.exp(dh / 5) * anchor.height
  return {
    x: anchor.x + (dx / 10) * anchor.width - width / 2,
    y: anchor.y + (dy / 10) * anchor.height - height / 2,
    width,
    height,
  }
}
