import { readFile } from 'node:fs/promises'
import type { AnalysisRequest, ImageAnalysis } from '../vision/image-analysis.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'

/** Analyzes one image with the evaluated models. */
export type AnalyzeImage = (image: EncodedImage, request: AnalysisRequest) => Promise<ImageAnalysis>

/** Reads an image file. A file that does not begin like a PNG counts as a JPEG. */
export async function readImage(file: string): Promise<EncodedImage> {
  const bytes = await readFile(file)
  return {
    bytes: bytes.toString('base64'),
    contentType: bytes[0] === 0x89 ? 'image/png' : 'image/jpeg',
  }
}
