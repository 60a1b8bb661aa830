import { createHash } from 'node:crypto'
import type { Calibration } from '../../../src/gallery/calibration/similarity.ts'
import { similarityOf } from '../../../test/support/vision/similarity-of.ts'
import { ActionError } from '../../../src/lib/errors.ts'
import type { FaceResult } from '../../../src/vision/image-analysis.ts'
import type {
  ChallengeFrame,
  ChallengeJudgement,
} from '../../../src/vision/liveness/challenge/challenge-judgement.ts'
import { compareFrames } from '../../../src/vision/liveness/challenge/compare-frames.ts'
import { challengeFrameRequest } from './frame-request.ts'
import { judgeChallenge } from '../../../src/vision/liveness/challenge/judge-challenge.ts'
import { mapConcurrent } from '../../../src/evaluation/map-concurrent.ts'
import { readImage, type AnalyzeImage } from '../../../src/evaluation/face-images.ts'
import type { LabelledSequence } from './read-sequences.ts'

/** A sequence with its frames and judgement, or the error code of a frame without a usable face. */
export type SequenceResult = LabelledSequence &
  (
    | { readonly frames: readonly ChallengeFrame[]; readonly judgement: ChallengeJudgement }
    | { readonly unusable: string }
  )

type SequenceModels = {
  readonly analyzeImage: AnalyzeImage
  /** Of the recognizer. */
  readonly calibration: Calibration
}

/**
 * Judges all sequences, in the same order, by the largest face of each frame. A picture that is part
 * of several sequences with one first picture is analyzed once.
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
      for (const file of sequence.files) faces.push(await analyze(file, faces[0]))
      const frames = compareFrames(faces, (a, b) => similarityOf(a, b, models.calibration))
      return { ...sequence, frames, judgement: judgeChallenge(frames, sequence.steps) }
    } catch (error) {
      if (error instanceof ActionError) return { ...sequence, unusable: error.code }
      throw error
    }
  }
  return mapConcurrent(sequences, judge, onProgress)
}

/** Requests the largest face, like `svc.liveness` with its defaults. */
const sizeRequest = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 1 }

/**
 * Returns a function that analyzes a file, in comparison with the first face of its sequence. Results
 * are kept by the content of the file and that face.
 */
function createFrameAnalyzer(analyzeImage: AnalyzeImage) {
  const kept = new Map<FaceResult | undefined, Map<string, Promise<FaceResult>>>()
  return async (file: string, first: FaceResult | undefined): Promise<FaceResult> => {
    const image = await readImage(file)
    const key = createHash('sha256').update(image.bytes).digest('base64')
    const keptOfFirst = kept.get(first) ?? new Map<string, Promise<FaceResult>>()
    kept.set(first, keptOfFirst)
    const analysis = keptOfFirst.get(key) ?? analyzeFrame(image, first)
    keptOfFirst.set(key, analysis)
    return analysis
  }

  async function analyzeFrame(
    image: Awaited<ReturnType<typeof readImage>>,
    first: FaceResult | undefined,
  ): Promise<FaceResult> {
    const request = { ...sizeRequest, ...challengeFrameRequest(first) }
    const { faces } = await analyzeImage(image, request)
    if (!faces[0]) throw new ActionError('NO_FACE_FOUND', 'no face was found in the frame')
    return faces[0]
  }
}
