/**
 * The components of ISO/IEC 29794-5, each 0..100, an integer: 100 means no effect on recognition, 0
 * the worst measurable value. `measure-face-quality.ts` contains the formulas.
 */
export type QualityComponents = {
  readonly sharpness: number
  readonly brightness: number
  readonly contrast: number
  readonly exposure: number
  readonly faceSize: number
  readonly headPose: number
  readonly eyesOpen: number
  readonly mouthClosed: number
  readonly occlusion: number
}

/** The probability that a part of the face is covered, 0..1; left and right as in the image. */
export type Occlusion = {
  readonly leftEye: number
  readonly rightEye: number
  readonly lowerFace: number
}

/** How far eyes and mouth are open, 0..1; the threshold is 0.5. Left and right as in the image. */
export type Openness = {
  readonly leftEye: number
  readonly rightEye: number
  readonly mouth: number
}

/** The quality measurements of one face. */
export type FaceQuality = {
  readonly components: QualityComponents
  /** Mean luma of the face, 0..255. */
  readonly luma: number
  readonly openness: Openness
  readonly occlusion: Occlusion
  /** The share of the face that is outside the image, 0..1. */
  readonly cutShare: number
}
