import {
  isIdentical,
  scoreOf,
  similarityOfScore,
  type Calibration,
} from '../../../src/gallery/calibration/similarity.ts'
import type { Template } from '../../../src/vision/embed/template.ts'

/** Returns the similarity of two faces, 0..1. It is symmetric, and 1 only for identical templates. */
export function similarityOf(a: Template, b: Template, calibration: Calibration): number {
  const compared = { score: scoreOf(a, b), isIdentical: isIdentical(a, b) }
  return similarityOfScore(compared, calibration)
}
