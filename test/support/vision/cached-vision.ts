import { createHash } from 'node:crypto'
import type { AnalysisRequest, ImageAnalysis } from '../../../src/vision/image-analysis.ts'
import type { EncodedImage } from '../../../src/vision/image/input/encoded-image.ts'
import type { Pipeline } from '../../../src/vision/pipeline.ts'
import type { VisionClient } from '../../../src/vision/vision-client.ts'
import { unlimitedVisionClient } from '../gallery/fake-vision.ts'

/** The largest number of faces that a request may have. */
const facesMax = 20

export type CachedVision = VisionClient & {
  readonly analyze: (image: EncodedImage, request: AnalysisRequest) => Promise<ImageAnalysis>
}

/**
 * Creates a vision client that runs the real networks once for each image and set of options, and
 * answers a later request with the same result. Tests over hundreds of pictures use it.
 */
export function createCachedVision(pipeline: Pick<Pipeline, 'analyzeImage'>): CachedVision {
  const analyses = new Map<string, Promise<ImageAnalysis>>()
  async function analyze(image: EncodedImage, request: AnalysisRequest): Promise<ImageAnalysis> {
    // The number of faces does not change the result for each of them.
    const wholeRequest = { ...request, maxFaces: facesMax }
    const options = Object.entries(wholeRequest).filter(([, value]) => value !== false)
    const hash = createHash('sha256').update(image.bytes)
    const key = hash.update(JSON.stringify(Object.fromEntries(options))).digest('base64')
    const analysis = analyses.get(key) ?? pipeline.analyzeImage(image, wholeRequest, 'images[0]')
    analyses.set(key, analysis)
    const { faces, ...others } = await analysis
    return { ...others, faces: faces.slice(0, request.maxFaces) }
  }
  return { ...unlimitedVisionClient(analyze), analyze }
}
