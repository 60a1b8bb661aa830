import type { Point } from '../image/geometry.ts'

/** Five points; left and right as seen in the image. */
export type Landmarks = {
  readonly leftEye: Point
  readonly rightEye: Point
  readonly noseTip: Point
  readonly leftMouth: Point
  readonly rightMouth: Point
}
