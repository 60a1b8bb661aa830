import type { z } from 'zod'
import { mapValues } from '../../lib/map-values.ts'
import { roundTo } from '../../lib/round-to.ts'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { FaceValue, imageFacts, debug } from '../schemas/fields.ts'
import type { ActionCall } from '../action.ts'
import { findCovers } from './quality-reasons.ts'
import type { MatchCandidate } from './search/candidates.ts'
import type { ProbeFace } from './extract-probes.ts'

/** Converts a face of an analysis to the face of a response. */
export function toFaceValue(
  analysis: ImageAnalysis,
  result: FaceResult,
  faceIndex: number,
  show: { readonly landmarks: boolean } = { landmarks: true },
): FaceValue {
  const { left, top, width, height } = result.boundingBox
  return {
    faceIndex,
    boundingBox: { left, top, width, height },
    relativeBoundingBox: {
      left: roundTo(left / analysis.width, 4),
      top: roundTo(top / analysis.height, 4),
      width: roundTo(width / analysis.width, 4),
      height: roundTo(height / analysis.height, 4),
    },
    confidence: roundTo(result.confidence, 3),
    ...(show.landmarks && { landmarks: result.landmarks }),
    pose: mapValues(result.pose, (degrees) => roundTo(degrees, 1)),
    quality: { score: result.qualityScore, level: qualityLevel(result.qualityScore) },
  }
}

export function toImageFacts(analysis: ImageAnalysis): z.output<typeof imageFacts> {
  const { width, height, orientationApplied } = analysis
  return { width, height, orientationApplied }
}

/** Returns `image`, `warnings` and `debug` of an action with one result per image. */
export function imageFields(
  { params, debug }: Pick<ActionCall<ImageSelection>, 'params' | 'debug'>,
  analysis: ImageAnalysis,
  face: FaceResult | undefined,
  ...otherWarnings: readonly string[]
) {
  return {
    image: toImageFacts(analysis),
    ...toWarnings(...unusedImages(params), ...otherWarnings),
    ...debugInfo(debug, analysis, face),
  }
}

/** The limits are those of the schema. */
export function qualityLevel(score: number): 'low' | 'medium' | 'high' {
  if (score < 40) return 'low'
  return score < 70 ? 'medium' : 'high'
}

type DebugInput = {
  readonly scores?: Readonly<Record<string, number>>
  readonly searchMs?: number
  readonly candidatesBelowThreshold?: MatchCandidate[]
  /** The models of the compared templates. */
  readonly modelIds?: readonly string[]
}

/** Returns `debug` of a response if the call requests it. It never contains a template. */
export function debugInfo(
  isRequested: boolean,
  analysis: ImageAnalysis,
  face: FaceResult | undefined,
  { scores, searchMs, candidatesBelowThreshold, modelIds = [] }: DebugInput = {},
): { readonly debug?: z.input<typeof debug> } {
  if (!isRequested) return {}
  const previousModels = modelIds.filter((modelId) => modelId !== face?.template?.modelId)
  return toDebug({
    providers: {
      ...analysis.providers,
      ...(previousModels.length > 0 && { formerRecognizer: previousModels.join('+') }),
    },
    scores: { ...(face && faceScores(face)), ...scores },
    timingsMs: { ...analysis.timingsMs, ...(searchMs !== undefined && { search: searchMs }) },
    ...(candidatesBelowThreshold && { candidatesBelowThreshold }),
  })
}

type DebugValue = NonNullable<z.input<typeof debug>>

/** Returns `debug` with at most four decimals of each score and three of each time. */
export function toDebug(value: DebugValue): { readonly debug: DebugValue } {
  const scores = mapValues(value.scores, (score) => roundTo(score, 4))
  const timingsMs = mapValues(value.timingsMs, (ms) => roundTo(ms, 3))
  return { debug: { ...value, scores, timingsMs } }
}

/** Returns the score of a comparison with a subject, if there was one. */
export function recognizerScore(compared?: { readonly score: number | undefined }): DebugInput {
  return compared?.score === undefined ? {} : { scores: { recognizer: compared.score } }
}

/** Returns `debug` of a call that analyzes no image: it has no scores. */
export function debugOfDatabase(
  isRequested: boolean,
  databaseMs: number,
): { readonly debug?: z.input<typeof debug> } {
  if (!isRequested) return {}
  return toDebug({ providers: {}, scores: {}, timingsMs: { database: databaseMs } })
}

/** Returns the detector's score and, if liveness was analyzed, the total and each model's score. */
function faceScores({ confidence, liveness }: FaceResult): Record<string, number> {
  return {
    detector: confidence,
    ...(liveness && { liveness: liveness.score, ...liveness.networks }),
  }
}

/** Returns `warnings` of a value; nothing if there are none. */
export function toWarnings(...texts: readonly string[]): { readonly warnings?: string[] } {
  return texts.length > 0 ? { warnings: [...texts] } : {}
}

/** Warns about a threshold that decides nothing. */
export function zeroThreshold({ threshold }: { readonly threshold?: unknown }): string[] {
  return threshold === 0 ? ['threshold 0 matches every face; send 0.80 or more, or "auto"'] : []
}

/** Warns that an action without `allImages` has used only the first image. */
export function unusedImages({ images, allImages }: ImageSelection): string[] {
  return allImages || images.length < 2 ? [] : ['images[1] and later were not used; set allImages']
}

export type ImageSelection = { readonly images: readonly unknown[]; readonly allImages: boolean }

/**
 * Below this quality a stored picture is missed clearly more often: at 0.80, 16 % of comparisons with
 * the same person from quality 70 to 80, and 7 % from 90 (docs/recognition/quality.md).
 */
const enrollQualityAdvised = 75

/** Warns about stored pictures that will often be missed. */
export function enrollWarnings(
  embeddingCount: number,
  pictures: readonly { readonly index: number; readonly probe: ProbeFace }[],
): string[] {
  return [
    ...(embeddingCount === 1
      ? ['the subject has one template only; add a second picture to reduce misses']
      : []),
    ...pictures.flatMap(({ index, probe }) =>
      pictureWarnings(probe).map((warning) => `images[${index}]: ${warning}`),
    ),
  ]
}

function pictureWarnings({ qualityScore, quality: { occlusion } }: ProbeFace): string[] {
  const { areEyesCovered, isMouthCovered } = findCovers(occlusion)
  const isPoor = qualityScore < enrollQualityAdvised
  return [
    ...(isPoor
      ? [
          `the quality is ${qualityScore}, below ${enrollQualityAdvised}; expect more misses, and replace the picture if you can`,
        ]
      : []),
    ...(areEyesCovered
      ? [`the eyes are covered (sunglasses, a cap or a hand); ${coverAdvice}`]
      : []),
    ...(isMouthCovered
      ? [`mouth and chin are covered (a mask, a scarf or a hand); ${coverAdvice}`]
      : []),
  ]
}

const coverAdvice = 'half of the comparisons of such pictures miss, so use another picture'
