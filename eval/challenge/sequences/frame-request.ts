import type { AnalysisRequest, FaceResult } from '../../../src/vision/image-analysis.ts'

/**
 * Returns what to analyze in a frame of a response to a challenge, besides the size of faces.
 *
 * @param first the face of the first frame, if this is another one.
 */
export function challengeFrameRequest(first?: FaceResult) {
  const common = { crops: false, challenge: true, quickTemplates: true } as const
  return (
    first
      ? { ...common, templates: 'fast', samePersonAs: first.quickTemplate }
      : { ...common, templates: true }
  ) satisfies Partial<AnalysisRequest>
}
