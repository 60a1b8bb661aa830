import type { z } from 'zod'
import type { FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { debug } from '../schemas/fields.ts'
import type { MatchCandidate } from './search/candidates.ts'

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
  return {
    debug: {
      providers: {
        ...analysis.providers,
        ...(previousModels.length > 0 && { formerRecognizer: previousModels.join('+') }),
      },
      scores: { ...(face && faceScores(face)), ...scores },
      timingsMs: { ...analysis.timingsMs, ...(searchMs !== undefined && { search: searchMs }) },
      ...(candidatesBelowThreshold && { candidatesBelowThreshold }),
    },
  }
}

/** Returns `debug` of a call that analyzes no image: it has no scores. */
export function debugOfDatabase(
  isRequested: boolean,
  databaseMs: number,
): { readonly debug?: z.input<typeof debug> } {
  if (!isRequested) return {}
  return { debug: { providers: {}, scores: {}, timingsMs: { database: databaseMs } } }
}

/** Returns the detector's score and, if liveness was analyzed, the total and each model's score. */
function faceScores({ confidence, liveness }: FaceResult): Record<string, number> {
  return {
    detector: confidence,
    ...(liveness && { liveness: liveness.score, ...liveness.networks }),
  }
}
