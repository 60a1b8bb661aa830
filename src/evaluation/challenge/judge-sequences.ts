import { createHash } from 'node:crypto'
import { similarityOf, type Calibration } from '../../gallery/calibration/similarity.ts'
import { ActionError } from '../../lib/errors.ts'
import type { AnalysisRequest, FaceResult } from '../../vision/image-analysis.ts'
import type {
  ChallengeFrame,
  ChallengeJudgement,
} from '../../vision/liveness/challenge/challenge.ts'
import { judgeChallenge } from '../../vision/liveness/challenge/judge-challenge.ts'
import { mapConcurrent } from '../map-concurrent.ts'
import { readImage, type AnalyzeImage } from '../read-image.ts'
import type { LabelledSequence } from './read-sequences.ts'

/** A sequence with its judgement, or with the error code of a frame without a usable face. */
export type SequenceResult = LabelledSequence &
  ({ readonly judgement: ChallengeJudgement } | { readonly unusable: string })

type SequenceModels = {
  readonly analyzeImage: AnalyzeImage
  /** Of the recognizer. */
  readonly calibration: Calibration
}

/**
 * Judges all sequences, in the same order, by the largest face of each frame. A picture that is part
 * of several sequences is analyzed once.
 */
export function judgeSequences(
  sequences: readonly LabelledSequence[],
  models: SequenceModels,
  onProgress: (done: number, total: number) => void,
): Promise<SequenceResult[]> {
  const analyze = createFrameAnalyzer(models.analyzeImage)
  const judge = async (sequence: LabelledSequence): Promise<SequenceResult> => {
    try {
      const faces: FaceResult[] = []
      for (const [index, file] of sequence.files.entries())
        faces.push(await analyze(file, index === 0))
      const judgement = judgeChallenge(toFrames(faces, models.calibration), sequence.steps)
      return { ...sequence, judgement }
    } catch (error) {
      if (error instanceof ActionError) return { ...sequence, unusable: error.code }
      throw error
    }
  }
  return mapConcurrent(sequences, judge, onProgress)
}

/** Requests the largest face, like `svc.liveness` with its defaults. */
const frameRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 40,
  maxFaces: 1,
  crops: false,
  challenge: true,
}

/** Returns a function that analyzes a file. Results are kept by the content of the file. */
function createFrameAnalyzer(analyzeImage: AnalyzeImage) {
  const kept = new Map<string, Promise<FaceResult>>()
  return async (file: string, isFirst: boolean): Promise<FaceResult> => {
    const image = await readImage(file)
    const key = `${createHash('sha256').update(image.bytes).digest('base64')}${isFirst}`
    const analysis = kept.get(key) ?? analyzeFrame(image, isFirst)
    kept.set(key, analysis)
    return analysis
  }

  async function analyzeFrame(
    image: Awaited<ReturnType<typeof readImage>>,
    isFirst: boolean,
  ): Promise<FaceResult> {
    const templates = isFirst ? true : ('fast' as const)
    const { faces } = await analyzeImage(image, { ...frameRequest, templates })
    if (!faces[0]) throw new ActionError('NO_FACE_FOUND', 'no face was found in the frame')
    return faces[0]
  }
}

function toFrames(faces: readonly FaceResult[], calibration: Calibration): ChallengeFrame[] {
  const first = faces[0]?.template
  return faces.map(({ challenge, template }) => {
    if (!challenge || !template || !first) throw new Error('the analysis is not complete')
    const similarityToFirst = similarityOf(first, template, calibration)
    return { facts: challenge, similarityToFirst }
  })
}
