import type { AttributeName, FaceAttributes } from './attributes/face-attributes.ts'
import type { FaceQuality } from './quality/face-quality.ts'
import type { HeadPosition } from './landmarks/head-geometry.ts'
import type { ImageQuality } from './quality/image-quality.ts'

/** What the vision side is asked and what it answers. Plain data: it crosses a process border. */

/** One picture as the caller sent it. */
export type EncodedImage = {
  /** Base64 as RFC 4648 section 4, padded; unchecked until the worker decodes it. */
  readonly bytes: string
  readonly contentType: 'image/jpeg' | 'image/jpg' | 'image/png'
}

/** Which faces count. */
export type FaceMinimums = {
  /** Faces below this confidence (0..1) are not reported. */
  readonly minFaceConfidence: number
  /** Faces whose shorter box side is below this (px of the upright image) are not reported. */
  readonly minFaceSizePx: number
}

/** What to look for in a picture. */
export type AnalysisRequest = FaceMinimums & {
  /** Other minima, for which faces are only counted. */
  readonly countMinimums?: FaceMinimums
  /** The most faces to work on, largest first. */
  readonly maxFaces: number
  /** Whether each face brings an aligned JPEG. */
  readonly crops: boolean
  /** Whether each face brings the template of the active model; without it, none does. */
  readonly templates?: boolean
  /**
   * Models (`modelId`) of older templates that each face brings a template of as well, as far as
   * their recognizers are kept beside the active one.
   */
  readonly previousTemplates?: readonly string[]
  /** What networks shall read off each face. */
  readonly attributes?: readonly AttributeName[]
  /** Whether the picture as a whole is judged, and where the heads lie in it. */
  readonly imageQuality?: boolean
  /** Whether each face is judged live or not; without it, none is. */
  readonly liveness?: boolean
  /** Whether each face brings a crop that can be looked at again. */
  readonly contextCrops?: boolean
}

/** Pixels of the upright image (EXIF orientation applied), origin top-left, y downwards. */
export type Point = { readonly x: number; readonly y: number }

/** Whole pixels of the upright image, origin top-left. */
export type BoundingBox = {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
}

/** Five points; left and right as seen in the image. */
export type Landmarks = {
  readonly leftEye: Point
  readonly rightEye: Point
  readonly noseTip: Point
  readonly leftMouth: Point
  readonly rightMouth: Point
}

/** Degrees. yaw > 0: nose points to image right; pitch > 0: nose points up; roll > 0: clockwise. */
export type HeadPose = { readonly yaw: number; readonly pitch: number; readonly roll: number }

/** A face as a vector, to be compared with others of the same model. Biometric data: handle so. */
export type Template = {
  /** "model@version"; templates of different models do not compare. */
  readonly modelId: string
  /** The nearer two vectors (Euclidean distance), the more alike the faces. */
  readonly vector: Float32Array
  /** How near strangers lie, ≤ 0: the mean of the best scores (−distance²) against a cohort. */
  readonly density: number
}

/** What the liveness networks say of one face, and on what evidence. */
export type LivenessResult = {
  /** 0..1; the higher, the more it looks like a person and not like a picture of one. */
  readonly score: number
  /** Live from `liveMin` on, not live below `spoofMax` (≤ `liveMin`); nothing is known between. */
  readonly liveMin: number
  readonly spoofMax: number
  /** "id@version" → what this network says by itself, 0..1. */
  readonly networks: Readonly<Record<string, number>>
  /** Whether the picture reaches as far around the face as the networks want to look. */
  readonly hasContext: boolean
  /** Whether the face has colour: without it screens and prints do not show. */
  readonly hasColour: boolean
}

export type FaceResult = {
  readonly boundingBox: BoundingBox
  /** 0..1; 0.6 is the detectors' rule for "this is a face". */
  readonly confidence: number
  readonly landmarks: Landmarks
  readonly pose: HeadPose
  /** 0..100, whole. */
  readonly qualityScore: number
  readonly quality: FaceQuality
  /** Aligned 112×112 JPEG, base64; only when asked for. */
  readonly crop?: string
  /** Of the active model; only when asked for. */
  readonly template?: Template
  /** Of the former models that were asked for, those that are kept; only when asked for. */
  readonly previousTemplates?: readonly Template[]
  /** Only when asked for. */
  readonly liveness?: LivenessResult
  /** The face in its surroundings, at most 320 px a side, JPEG in base64; only when asked for. */
  readonly contextCrop?: string
  /** Only when asked for. */
  readonly attributes?: FaceAttributes
  /** Only with `Look.picture`. */
  readonly head?: HeadPosition
}

/** Everything that was seen in one picture. */
export type ImageAnalysis = {
  /** Size of the upright image, px. */
  readonly width: number
  readonly height: number
  /** Whether an EXIF orientation other than "upright" was applied. */
  readonly orientationApplied: boolean
  /** Every face that passed the look's minima, also those beyond `maxFaces`. */
  readonly faceCount: number
  /** Largest first, at most `maxFaces`. */
  readonly faces: readonly FaceResult[]
  /** Faces by `Look.count`. */
  readonly countedFaces?: number
  /** Only when asked for. */
  readonly imageQuality?: ImageQuality
  /** Milliseconds per stage, each without the stages within it. */
  readonly timingsMs: Readonly<
    Record<
      'decode' | 'detect' | 'landmarks' | 'align' | 'embed' | 'liveness' | 'attributes' | 'picture',
      number
    >
  >
  /** Role to "model@version". */
  readonly providers: Readonly<Record<string, string>>
}

/** Limits of a picture, checked from its header before a pixel is decoded. */
export type ImageLimits = {
  readonly bytesMax: number
  readonly pixelsMax: number
  readonly sideMinPx: number
}
