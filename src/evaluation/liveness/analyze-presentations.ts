import type { AnalysisRequest, FaceResult, ImageAnalysis } from '../../vision/image-analysis.ts'
import type { LivenessResult } from '../../vision/liveness/liveness-result.ts'
import { type AnalyzeImage, type UnusableReason, analyzeFile } from '../face-images.ts'
import { mapConcurrent } from '../map-concurrent.ts'
import type { Presentation } from './read-presentations.ts'

/** Requests the largest face, like `svc.liveness` with its defaults. */
const livenessRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 40,
  maxFaces: 1,
  crops: false,
  liveness: true,
}

/** A presentation with its analysis, or with the reason if no face could be analyzed. */
export type PresentationResult =
  | AnalyzedPresentation
  | (Presentation & { readonly unusable: UnusableReason })

/** A presentation with a face. */
export type AnalyzedPresentation = Presentation & {
  readonly analysis: ImageAnalysis
  readonly face: FaceResult & { readonly liveness: LivenessResult }
}

/** Analyzes all presentations and returns the results in the same order. */
export function analyzePresentations(
  presentations: readonly Presentation[],
  analyzeImage: AnalyzeImage,
  onProgress: (done: number, total: number) => void,
): Promise<PresentationResult[]> {
  const analyze = async (presentation: Presentation): Promise<PresentationResult> => ({
    ...presentation,
    ...(await analyzePresentation(presentation.file, analyzeImage)),
  })
  return mapConcurrent(presentations, analyze, onProgress)
}

async function analyzePresentation(file: string, analyzeImage: AnalyzeImage) {
  const analysis = await analyzeFile(file, (image) => analyzeImage(image, livenessRequest))
  if ('unusable' in analysis) return analysis
  const [face] = analysis.faces
  if (!face) return { unusable: 'NO_FACE_FOUND' as const }
  if (!face.liveness) throw new Error('the analysis has no liveness result')
  return { analysis, face: { ...face, liveness: face.liveness } }
}
