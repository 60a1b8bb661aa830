import type { AttributeName, FaceAttributes } from './attributes/face-attributes.ts'
import type { QuickTemplate, Template } from './embed/template.ts'
import type { BoundingBox } from './image/geometry.ts'
import type { HeadPose, HeadPosition, Landmarks } from './landmarks/mesh.ts'
import type { ChallengeFacts } from './liveness/challenge/challenge-judgement.ts'
import type { LivenessResult } from './liveness/liveness-result.ts'
import type { FaceQuality } from './quality/face-quality.ts'
import type { ImageQuality } from './quality/image-quality.ts'
import type { StageTimings } from './stopwatch.ts'

// Request and result of an analysis are plain data, because they cross a process border.

/** Which faces count. */
export type FaceMinimums = {
  /** Faces below this confidence (0..1) are ignored. */
  readonly minFaceConfidence: number
  /** Faces with a shorter box side below this (px of the oriented image) are ignored. */
  readonly minFaceSizePx: number
}

type CountMinimums = FaceMinimums & {
  /**
   * Whether to count only if no face passes the minimums of the request. Counting costs a run of the
   * mesh network for each uncertain face that only `countMinimums` accept.
   */
  readonly onlyIfNoFace?: boolean
}

/** What to analyze in an image, and which faces to report. */
export type AnalysisRequest = FaceMinimums & {
  /** Other minimums. The faces that pass them are counted in `ImageAnalysis.countedFaces`. */
  readonly countMinimums?: CountMinimums
  /** The maximum number of faces to analyze, largest first. */
  readonly maxFaces: number
  /** Whether to return an aligned JPEG of each face. */
  readonly crops: boolean
  /**
   * Whether to create a template of each face with the active model. `'fast'` may cost less and be
   * less accurate; it is only for comparisons with a template of the same recording.
   */
  readonly templates?: boolean | 'fast'
  /** Whether to return, with the template, the quick template that `samePersonAs` needs. */
  readonly quickTemplates?: boolean
  /**
   * With `templates`: a face that is certainly this person has `certainSimilarity` instead of
   * templates, which costs less. Of a frame of the same recording.
   */
  readonly samePersonAs?: QuickTemplate | undefined
  /**
   * Previous models (`modelId`) to create a template of each face with as well. Models that are not
   * loaded beside the active one are ignored.
   */
  readonly previousTemplates?: readonly string[]
  readonly attributes?: readonly AttributeName[]
  /** Whether to measure the image as a whole and the position of the heads in it. */
  readonly imageQuality?: boolean
  readonly liveness?: boolean
  /** Whether to measure each face for the judgement of a challenge. */
  readonly challenge?: boolean
  /** Whether to return a crop of each face with its surroundings, which can be analyzed again. */
  readonly contextCrops?: boolean
}

/** One face. Optional members are set only if the request contains them. */
export type FaceResult = {
  readonly boundingBox: BoundingBox
  /** 0..1; 0.6 is the threshold for "this is a face". */
  readonly confidence: number
  readonly landmarks: Landmarks
  readonly pose: HeadPose
  /** 0..100, an integer. */
  readonly qualityScore: number
  readonly quality: FaceQuality
  /** Aligned JPEG, 112×112 px, base64. */
  readonly crop?: string
  /** Template of the active model. */
  readonly template?: Template
  /** Set with `AnalysisRequest.quickTemplates` if the active model has quick templates. */
  readonly quickTemplate?: QuickTemplate
  /**
   * The face has at least this calibrated similarity to `AnalysisRequest.samePersonAs`. Undefined if
   * the full templates must be compared; set, the face has no template.
   */
  readonly certainSimilarity?: number
  /** Templates of those requested previous models that are loaded. */
  readonly previousTemplates?: readonly Template[]
  readonly liveness?: LivenessResult
  readonly challenge?: ChallengeFacts
  /** The face in its surroundings, at most 320 px a side, JPEG, base64. */
  readonly contextCrop?: string
  readonly attributes?: FaceAttributes
  /** Set with `AnalysisRequest.imageQuality`. */
  readonly head?: HeadPosition
}

/** The result of one analysis. */
export type ImageAnalysis = {
  /** Size of the oriented image, px. */
  readonly width: number
  readonly height: number
  /** Whether the EXIF orientation changed the image. */
  readonly orientationApplied: boolean
  /** The number of faces that pass the minimums of the request, including those over `maxFaces`. */
  readonly faceCount: number
  /** The shorter sides of the boxes of these faces, px of the oriented image, largest face first. */
  readonly faceSidesPx: readonly number[]
  /** Largest first, at most `maxFaces`. */
  readonly faces: readonly FaceResult[]
  /** The number of faces that pass `AnalysisRequest.countMinimums`; undefined if not counted. */
  readonly countedFaces?: number
  /** The shorter sides of the counted faces, as `faceSidesPx`; undefined if not counted. */
  readonly countedFaceSidesPx?: readonly number[]
  /** Set with `AnalysisRequest.imageQuality`. */
  readonly imageQuality?: ImageQuality
  readonly timingsMs: StageTimings
  /** Role → "id@version", joined by "+" for several models. */
  readonly providers: Readonly<Record<string, string>>
}
