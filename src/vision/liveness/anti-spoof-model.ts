import type { DetectedFace, ImageContext } from '../image-context.ts'

/** One anti-spoofing network with the limits that its scores need. */
export type AntiSpoofModel = {
  /** "id@version". */
  readonly providerId: string
  /** See `LivenessResult`. */
  readonly liveMin: number
  readonly spoofMax: number
  /** The smallest usable image, as a multiple of the width and height of the face. */
  readonly contextMin: number
  readonly predict: (face: DetectedFace, context: ImageContext) => Promise<AntiSpoofScore>
}

/** Probabilities of "live", 0..1. */
export type AntiSpoofScore = {
  readonly score: number
  /** Name → score of each part that `score` combines. */
  readonly componentScores: Readonly<Record<string, number>>
}
