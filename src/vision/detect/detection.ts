import type { Point, Rect } from '../image/geometry.ts'

/** One result of one detector, in continuous coordinates of the frame. */
export type DetectorCandidate = {
  /** From the hairline to the chin and from cheek to cheek, the same for every detector. */
  readonly box: Rect
  /** The score of the network, 0..1. */
  readonly score: number
  /** The eyes of a probable face, if the detector returns them; left and right as in the image. */
  readonly eyes?: readonly [left: Point, right: Point]
}

/** One face after the results of all detectors are combined, in coordinates of the frame. */
export type Detection = {
  readonly box: Rect
  /** 0..1; 0.6 is the threshold for "this is a face". */
  readonly confidence: number
  /** The eyes that a built-in detector returned. */
  readonly eyes?: DetectorCandidate['eyes']
  /** The mesh need not confirm the face, because the score of its detector is high. */
  readonly isConfirmed?: boolean
  /** Eyes, nose and mouth in the order of `landmarkPoints`, if an installed detector returns them. */
  readonly landmarkPoints?: readonly Point[]
}

/** Shares of the width and the height of a box: where the box of a face begins, and its size. */
type BoxToFace = Readonly<Record<'left' | 'top' | 'width' | 'height', number>>

/** Converts the box of a detector to that of a face. */
export function toFaceBox(box: Rect, { left, top, width, height }: BoxToFace): Rect {
  return {
    x: box.x + left * box.width,
    y: box.y + top * box.height,
    width: width * box.width,
    height: height * box.height,
  }
}
