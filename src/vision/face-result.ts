import { mapValues } from '../lib/map-values.ts'
import { roundTo } from '../lib/round-to.ts'
import type { Detection } from './detect/detection.ts'
import type { FaceResult } from './image-analysis.ts'
import type { OrientedImage } from './image/decode.ts'
import type { BoundingBox, Point, Rect } from './image/geometry.ts'
import { type Mesh, headPose, meshLandmarks } from './landmarks/mesh.ts'
import { measureFaceQuality } from './quality/measure-face-quality.ts'

/** Returns one face as it is reported: in pixels of the whole oriented image. */
export function createFaceResult(face: Detection, mesh: Mesh, image: OrientedImage): FaceResult {
  const pose = headPose(mesh)
  const scale = imageScale(image)
  const { frame, highResScale } = image
  const qualityInput = { mesh, pose, confidence: face.confidence, highResScale, frame }
  const { score, ...quality } = measureFaceQuality(qualityInput)
  return {
    boundingBox: toBoundingBox(face.box, image),
    confidence: roundTo(face.confidence, 3),
    landmarks: mapValues(meshLandmarks(mesh), ({ x, y }) => ({
      x: roundTo(x * scale.x, 1),
      y: roundTo(y * scale.y, 1),
    })),
    pose: mapValues(pose, (degrees) => roundTo(degrees, 1)),
    qualityScore: score,
    quality,
  }
}

/** Converts a box of the frame to whole pixels of the oriented image, clipped at its borders. */
export function toBoundingBox(box: Rect, image: OrientedImage): BoundingBox {
  const scale = imageScale(image)
  const toPixels = (from: number, length: number, axisScale: number, limit: number) => {
    const start = Math.min(limit - 1, Math.max(0, Math.round(from * axisScale)))
    const end = Math.min(limit, Math.max(start + 1, Math.round((from + length) * axisScale)))
    return { start, length: end - start }
  }
  const horizontal = toPixels(box.x, box.width, scale.x, image.width)
  const vertical = toPixels(box.y, box.height, scale.y, image.height)
  return {
    left: horizontal.start,
    top: vertical.start,
    width: horizontal.length,
    height: vertical.length,
  }
}

function imageScale({ width, height, frame }: OrientedImage): Point {
  return { x: width / frame.width, y: height / frame.height }
}
