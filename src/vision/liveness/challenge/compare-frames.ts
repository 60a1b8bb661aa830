import { certainSimilarity } from '../../embed/quick-match.ts'
import type { Template } from '../../embed/template.ts'
import type { FaceResult } from '../../image-analysis.ts'
import type { ChallengeFrame, ChallengeJudgement } from './challenge-judgement.ts'
import { judgeChallenge } from './judge-challenge.ts'
import type { AngleRange, ChallengeStep } from '../../../lib/liveness/challenge-steps.ts'

type FrameFace = Pick<FaceResult, 'challenge' | 'template' | 'quickTemplate' | 'certainSimilarity'>

/** Returns the calibrated similarity of two templates. */
type CompareTemplates = (a: Template, b: Template) => number

/**
 * Compares and judges the faces of the frames of one response to a challenge: see `judgeChallenge`.
 *
 * @param faces analyzed with `challengeFrameRequest`, in the order of recording.
 */
export function judgeFaces(
  faces: readonly FrameFace[],
  steps: readonly ChallengeStep[],
  compare: CompareTemplates,
  angles?: readonly AngleRange[],
): ChallengeJudgement {
  return judgeChallenge(compareFrames(faces, compare), steps, angles)
}

/**
 * Compares the face of each frame with those of the first and of the previous frame.
 *
 * @param faces analyzed with `challengeFrameRequest`, in the order of recording.
 */
export function compareFrames(
  faces: readonly FrameFace[],
  compare: CompareTemplates,
): ChallengeFrame[] {
  return faces.map((face, index) => {
    const { challenge: facts } = face
    if (!facts) throw new Error('the analysis contains no challenge measurements')
    const [first = face] = faces
    const previous = faces[Math.max(0, index - 1)] ?? face
    return {
      facts,
      similarityToFirst: face.certainSimilarity ?? similarityOf(face, first, compare),
      similarityToPrevious: similarityOf(face, previous, compare),
    }
  })
}

/** Returns the similarity of two frames; 0 if only a full comparison could show one. */
function similarityOf(a: FrameFace, b: FrameFace, compare: CompareTemplates): number {
  if (a === b) return 1
  const certain =
    a.quickTemplate && b.quickTemplate && certainSimilarity(a.quickTemplate, b.quickTemplate)
  if (certain !== undefined) return certain
  return a.template && b.template ? compare(a.template, b.template) : 0
}
