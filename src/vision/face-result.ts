import type { Detection } from './detect/combine-detections.ts'
import type { OrientedImage } from './image/frame.ts'
import type { Rect } from './image/geometry.ts'
import { meshLandmarks } from './landmarks/mesh.ts'
import type { Mesh } from './landmarks/mesh.ts'
import { headPose } from './landmarks/head-pose.ts'
import { measureFaceQuality } from './quality/measure-face-quality.ts'
import type { BoundingBox, Landmarks, Point, FaceResult } from './image-analysis.ts'

/** One face as it is reported: from the frame's coordinates to the whole upright picture's. */
export function createFaceResult(face: Detection, mesh: Mesh, upright: OrientedImage): FaceResult {
  const pose = headPose(mesh)
  const { frame, highResScale } = upright
  const judged = { mesh, pose, confidence: face.confidence, highResScale, frame }
  const { score, ...quality } = measureFaceQuality(judged)
  return {
    boundingBox: toBoundingBox(face.box, upright),
    confidence: roundTo(face.confidence, 3),
    landmarks: toImageLandmarks(meshLandmarks(mesh), upright),
    pose: {
      yaw: roundTo(pose.yaw, 1),
      pitch: roundTo(pose.pitch, 1),
      roll: roundTo(pose.roll, 1),
    },
    qualityScore: score,
    quality,
  }
}

/** A box of the frame in whole pixels of the upright picture, cut off at its borders. */
export function toBoundingBox(box: Rect, upright: OrientedImage): BoundingBox {
  const scale = imageScale(upright)
  const along = (from: number, size: number, scaled: number, limit: number) => {
    const start = Math.min(limit - 1, Math.max(0, Math.round(from * scaled)))
    const end = Math.min(limit, Math.max(start + 1, Math.round((from + size) * scaled)))
    return { start, size: end - start }
  }
  const across = along(box.x, box.width, scale.x, upright.width)
  const down = along(box.y, box.height, scale.y, upright.height)
  return { left: across.start, top: down.start, width: across.size, height: down.size }
}

function toImageLandmarks(landmarks: Landmarks, upright: OrientedImage): Landmarks {
  const scale = imageScale(upright)
  const toPicture = ({ x, y }: Point): Point => ({
    x: roundTo(x * scale.x, 1),
    y: roundTo(y * scale.y, 1),
  })
  return {
    leftEye: toPicture(landmarks.leftEye),
    rightEye: toPicture(landmarks.rightEye),
    noseTip: toPicture(landmarks.noseTip),
    leftMouth: toPicture(landmarks.leftMouth),
    rightMouth: toPicture(landmarks.rightMouth),
  }
}

function imageScale({ width, height, frame }: OrientedImage): Point {
  return { x: width / frame.width, y: height / frame.height }
}

function roundTo(value: number, digits: number): number {
  const factor = 10 ** digits
  // Adding zero turns a minus zero into a plain one.
  return Math.round(value * factor) / factor + 0
}
