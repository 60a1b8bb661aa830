import type { Template } from '../../../src/vision/embed/template.ts'
import type { AnalysisRequest, FaceResult } from '../../../src/vision/image-analysis.ts'

/** Returns what an analysis reports of a template: a face close to `samePersonAs` has none. */
export function templatesOf(
  template: Template,
  { quickTemplates, samePersonAs }: Pick<AnalysisRequest, 'quickTemplates' | 'samePersonAs'>,
): Pick<FaceResult, 'template' | 'quickTemplate' | 'certainSimilarity'> {
  const { modelId, vector } = template
  if (samePersonAs && distanceBetween(vector, samePersonAs.vector) < closeMax)
    return { certainSimilarity: 0.8 }
  return { template, ...(quickTemplates && { quickTemplate: { modelId, vector } }) }
}

/** People have random directions, about 1.4 apart. */
const closeMax = 0.5

function distanceBetween(a: Float32Array, b: Float32Array): number {
  return Math.hypot(...a.map((value, index) => value - (b[index] ?? 0)))
}
