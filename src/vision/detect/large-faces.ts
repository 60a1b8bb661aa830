import { type Frame, resizeFrame } from '../image/decode.ts'
import { scaleRect, scaleSize } from '../image/geometry.ts'
import { framePyramid, type ImagePyramid } from '../image/pyramid.ts'
import type { ModelSession } from '../session.ts'
import { runBlazeface } from './blazeface.ts'
import type { DetectorCandidate } from './detection.ts'

/**
 * Detects faces that fill the frame. The largest anchors of BlazeFace and the SSD are smaller than
 * such a face: both return weak boxes of parts of it. Here the frame is scaled to half the side of
 * the network's input and surrounded by black.
 */
export async function detectLargeFaces(
  session: ModelSession,
  pyramid: ImagePyramid,
): Promise<DetectorCandidate[]> {
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
