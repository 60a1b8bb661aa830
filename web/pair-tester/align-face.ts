type FacePoint = { readonly x: number; readonly y: number }

/** The six values of a canvas transform. */
export type CanvasTransform = readonly [number, number, number, number, number, number]

/** Where the eyes are in an aligned face, as shares of its side. */
const eyeLine = 0.4
const eyeInset = 0.33

/**
 * Returns the rotation, scale and shift that move the eyes of a face to fixed places of a square, so
 * that two faces can be compared by eye.
 */
export function alignmentOf(
  leftEye: FacePoint,
  rightEye: FacePoint,
  side: number,
): CanvasTransform {
  const [from, to] = [leftEye, rightEye]
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const squared = dx * dx + dy * dy
  const span = side * (1 - 2 * eyeInset)
  // The complex quotient span / (dx + i dy).
  const cos = squared === 0 ? 1 : (span * dx) / squared
  const sin = squared === 0 ? 0 : (-span * dy) / squared
  const shiftX = side * eyeInset - (cos * from.x - sin * from.y)
  const shiftY = side * eyeLine - (sin * from.x + cos * from.y)
  return [cos, sin, -sin, cos, shiftX, shiftY]
}
