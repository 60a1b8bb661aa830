import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { suppressOverlaps } from '../image/geometry.ts'
import type { ImagePyramid } from '../image/pyramid.ts'
import { requireOutput } from '../session.ts'
import type { ModelSession } from '../session.ts'
import { letterbox } from '../tensor.ts'
import type { DetectorCandidate } from './detection.ts'

/**
 * Runs face-api's SSD MobileNet v1 on the whole frame: ten times slower than BlazeFace, better for
 * small faces. The network returns boxes as top, left, bottom, right, relative to the 512 px square.
 */
export async function runSsd(
  session: ModelSession,
  pyramid: ImagePyramid,
): Promise<DetectorCandidate[]> {
  const { input } = session
  const { frame } = pyramid
  const { tensor, scaleX, scaleY } = letterbox(pyramid, input)
  const outputs = await session.run(tensor)
  const boxes = requireOutput(outputs, 'boxes')
  const candidates: DetectorCandidate[] = []
  requireOutput(outputs, 'scores').forEach((score, index) => {
    if (score < scoreMin) return
    const [top = 0, left = 0, bottom = 0, right = 0] = boxes.subarray(index * 4, index * 4 + 4)
    const x = Math.max(0, left) * input.width * scaleX
    const y = Math.max(0, top) * input.height * scaleY
    const width = Math.min(frame.width, right * input.width * scaleX) - x
    const height = Math.min(frame.height, bottom * input.height * scaleY) - y
    if (width > 0 && height > 0) candidates.push({ box: { x, y, width, height }, score })
  })
  return suppressOverlaps(
    candidates,
    ({ score }) => score,
    builtinPack.models.ssd_mobilenetv1.constants.overlapMax,
  )
}

/** Lower scores have no effect when the detectors are combined. */
const scoreMin = 0.05
