import { runBlazeface } from './blazeface.ts'
import { certainConfidence } from './combine-detections.ts'
import type { Detection, DetectorCandidate } from './detection.ts'
import { padWithMirror, resizeFrame } from '../image/decode.ts'
import { areaOf, scaleRect, scaleSize, type ImageSize, type Rect } from '../image/geometry.ts'
import { framePyramid, type ImagePyramid } from '../image/pyramid.ts'
import type { ModelSession } from '../session.ts'

/**
 * Detects faces that the border of the frame cuts. Detectors are trained on whole faces. A border
 * with the mirror image of the frame turns half a face into a whole one. The boxes extend beyond the
 * frame.
 */
export async function detectBorderFaces(
  session: ModelSession,
  pyramid: ImagePyramid,
): Promise<DetectorCandidate[]> {
  const { frame } = pyramid
  const scale = Math.min(1, workSidePx / Math.max(frame.width, frame.height))
  const level = pyramid.levelForScale(scale)
  const size = scaleSize(frame, scale)
  const border = Math.floor(borderShare * Math.min(size.width, size.height))
  const padded = await padWithMirror(await resizeFrame(level, size), border)
  const candidates = await runBlazeface(session, framePyramid(padded))
  const toFrame = (box: Rect): Rect => {
    const unpadded = { ...box, x: box.x - border, y: box.y - border }
    return scaleRect(unpadded, frame.width / size.width, frame.height / size.height)
  }
  return candidates
    .map(({ box, score }) => ({ score, box: toFrame(box) }))
    .filter(({ box }) => isCutByBorder(box, frame))
}

/**
 * Whether the frame can show a face that the border cuts: a detector returned an uncertain box at the
 * border. That is true for 169 of 357 group and press photographs and crops of them, and for each of
 * the seven in which this search found a face.
 */
export function canShowBorderFace(
  detections: readonly Detection[],
  { width, height }: ImageSize,
): boolean {
  return detections.some(
    ({ box, confidence }) =>
      confidence >= hintConfidenceMin &&
      confidence < certainConfidence &&
      (box.x < hintBorderShare * width ||
        box.y < hintBorderShare * height ||
        box.x + box.width > (1 - hintBorderShare) * width ||
        box.y + box.height > (1 - hintBorderShare) * height),
  )
}

/** True if the box crosses the border and is not the mirror image of a face. */
function isCutByBorder(box: Rect, frame: ImageSize): boolean {
  const width = Math.min(box.x + box.width, frame.width) - Math.max(box.x, 0)
  const height = Math.min(box.y + box.height, frame.height) - Math.max(box.y, 0)
  if (width <= 0 || height <= 0) return false
  const share = (width * height) / areaOf(box)
  return share <= insideShareMax && share >= insideShareMin
}

/** px. With the border, the frame fills the 256 px of the network's input. */
const workSidePx = 184
const borderShare = 0.2
/** The lowest confidence of a box at the border that was a face in the photographs was 0.298. */
const hintConfidenceMin = 0.15
const hintBorderShare = 0.04
/** The box of a mirror image is mostly outside the frame, the box of a face mostly inside. */
const insideShareMin = 0.5
/** A face that hardly touches the border is found without mirroring. */
const insideShareMax = 0.98
