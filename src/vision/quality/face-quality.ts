/**
 * The components of ISO/IEC 29794-5, each 0..100, whole: 100 where it does not stand in the way of
 * recognition, 0 where it is as bad as can be told. `quality.ts` has the formulas.
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

/** How sure it is that something covers a part of the face, 0..1; left and right as in the image. */
export type Occlusion = {
  readonly leftEye: number
  readonly rightEye: number
  readonly lowerFace: number
}

/** How far eyes and mouth are open, 0..1; 0.5 is the border. Left and right as in the image. */
export type Openness = {
  readonly leftEye: number
  readonly rightEye: number
  readonly mouth: number
}

/** What was measured of a face to judge how well it shows. */
export type FaceQuality = {
  readonly components: QualityComponents
  /** Mean luma of the face, 0..255. */
  readonly luma: number
  readonly openness: Openness
  readonly occlusion: Occlusion
  /** The share of the face that lies beyond the borders of the picture, 0..1. */
  readonly cutShare: number
}
