import { similarityOf, type Calibration } from '../../gallery/calibration/similarity.ts'
import type { FaceResult } from '../../vision/image-analysis.ts'
import type { ChallengeFrame } from '../../vision/liveness/challenge/challenge-judgement.ts'

/**
 * Returns the measurements of a face for the judgement of a challenge.
 *
 * @param face analyzed with `challengeFrameRequest`.
 * @param first the face of the first frame, which can be the same.
 * @param calibration of the recognizer.
 */
export function toChallengeFrame(
  face: FaceResult,
  first: FaceResult,
  calibration: Calibration,
): ChallengeFrame {
  const { challenge: facts, template, certainSimilarity } = face
  if (!facts) throw new Error('the analysis contains no challenge measurements')
  if (certainSimilarity !== undefined) return { facts, similarityToFirst: certainSimilarity }
  if (!template || !first.template) throw new Error('the analysis contains no template')
  return { facts, similarityToFirst: similarityOf(first.template, template, calibration) }
}
