import { ActionError } from '../../lib/errors.ts'
import type {
  LivenessResult,
  AnalysisRequest,
  EncodedImage,
  FaceResult,
  ImageAnalysis,
} from '../../vision/image-analysis.ts'
import { readImage } from '../read-image.ts'
import type { Presentation } from './read-presentations.ts'

/** The largest face, as `svc.liveness` looks for it by default. */
const livenessRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 40,
  maxFaces: 1,
  crops: false,
  liveness: true,
}

/** What was seen of a presentation, or the code of the reason why nothing was. */
export type PresentationResult = Presentation &
  (
    | {
        readonly view: ImageAnalysis
        readonly face: FaceResult & { readonly liveness: LivenessResult }
      }
    | { readonly unusable: string }
  )

/** Looks at all pictures, in their order. */
export async function analyzePresentations(
  presentations: readonly Presentation[],
  look: (picture: EncodedImage, look: AnalysisRequest) => Promise<ImageAnalysis>,
  onProgress: (done: number, total: number) => void,
): Promise<PresentationResult[]> {
  const judged: PresentationResult[] = []
  let done = 0
  const waiting = presentations.entries()
  const takeTurns = async (): Promise<void> => {
    for (const [index, presentation] of waiting) {
      judged[index] = { ...presentation, ...(await analyzePresentation(presentation.file, look)) }
      onProgress(++done, presentations.length)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, takeTurns))
  return judged
}

/** Enough to keep every worker busy, few enough to hold in memory. */
const concurrency = 16

async function analyzePresentation(
  file: string,
  look: (picture: EncodedImage, look: AnalysisRequest) => Promise<ImageAnalysis>,
) {
  try {
    const view = await look(await readImage(file), livenessRequest)
    const [face] = view.faces
    if (!face) return { unusable: 'NO_FACE_FOUND' }
    if (!face.liveness) throw new Error('liveness was asked for and did not come')
    return { view, face: { ...face, liveness: face.liveness } }
  } catch (error) {
    if (error instanceof ActionError) return { unusable: error.code }
    throw error
  }
}
