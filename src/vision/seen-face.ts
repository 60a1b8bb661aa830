import type { Detection } from './agreement.ts'
import type { Upright } from './frame.ts'
import type { Rect } from './geometry.ts'
import { namedLandmarks } from './mesh.ts'
import type { Mesh } from './mesh.ts'
import { poseOf } from './pose.ts'
import { qualityOf } from './quality.ts'
import type { Box, Landmarks, Point, SeenFace } from './view.ts'

/** One face as it is reported: from the frame's coordinates to the whole upright picture's. */
export function seenFace(face: Detection, mesh: Mesh, upright: Upright): SeenFace {
  const pose = poseOf(mesh)
  const { frame, finerScale } = upright
  const judged = { mesh, pose, confidence: face.confidence, finerScale, frame }
  const { score, ...quality } = qualityOf(judged)
  return {
    boundingBox: reportedBox(face.box, upright),
    confidence: rounded(face.confidence, 3),
    landmarks: reportedLandmarks(namedLandmarks(mesh), upright),
    pose: {
      yaw: rounded(pose.yaw, 1),
      pitch: rounded(pose.pitch, 1),
      roll: rounded(pose.roll, 1),
    },
    qualityScore: score,
    quality,
  }
}

/** A box of the frame in whole pixels of the upright picture, cut off at its borders. */
export function reportedBox(box: Rect, upright: Upright): Box {
  const scale = scaleOf(upright)
  const along = (from: number, size: number, scaled: number, limit: number) => {
    const start = Math.min(limit - 1, Math.max(0, Math.round(from * scaled)))
    const end = Math.min(limit, Math.max(start + 1, Math.round((from + size) * scaled)))
    return { start, size: end - start }
  }
  const across = along(box.x, box.width, scale.x, upright.width)
  const down = along(box.y, box.height, scale.y, upright.height)
  return { left: across.start, top: down.start, width: across.size, height: down.size }
}

function reportedLandmarks(landmarks: Landmarks, upright: Upright): Landmarks {
  const scale = scaleOf(upright)
  const toPicture = ({ x, y }: Point): Point => ({
    x: rounded(x * scale.x, 1),
    y: rounded(y * scale.y, 1),
  })
  return {
    leftEye: toPicture(landmarks.leftEye),
    rightEye: toPicture(landmarks.rightEye),
    noseTip: toPicture(landmarks.noseTip),
    leftMouth: toPicture(landmarks.leftMouth),
    rightMouth: toPicture(landmarks.rightMouth),
  }
}

function scaleOf({ width, height, frame }: Upright): Point {
  return { x: width / frame.width, y: height / frame.height }
}

function rounded(value: number, digits: number): number {
  const factor = 10 ** digits
  // Adding zero turns a minus zero into a plain one.
  return Math.round(value * factor) / factor + 0
}
