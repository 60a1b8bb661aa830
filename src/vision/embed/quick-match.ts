import assert from 'node:assert/strict'
import { squaredDistance } from '../../lib/density/vectors.ts'
import type { QuickTemplate } from './template.ts'

/**
 * The comparison of the embeddings of dlib alone, for frames of one recording. docs/liveness.md contains
 * the measurement behind the limit.
 */
export const quickMatch = {
  /**
   * Euclidean distance. Of 453,255 pairs of different people in fold 1 of LFW one is closer, which the
   * full templates accept too (0.82). The next has 0.406. Most of the closest pairs are East Asian
   * people, so the limit is far below the 0.48 that one pair in 10⁴ reaches. Drawn heads that turn by
   * 27° are closer in 80 % of the frames.
   */
  distanceMax: 0.4,
  /** Has a false-match rate of 1e-4, which is higher than that of the limit. */
  similarity: 0.8,
} as const

/**
 * Returns a similarity that both faces certainly have, because their quick templates are closer than
 * nearly all of different people; otherwise undefined, and the full templates must be compared.
 */
export function certainSimilarity(a: QuickTemplate, b: QuickTemplate): number | undefined {
  assert.equal(a.modelId, b.modelId, 'quick templates of different networks cannot be compared')
  return squaredDistance(a.vector, b.vector) <= quickMatch.distanceMax ** 2
    ? quickMatch.similarity
    : undefined
}
