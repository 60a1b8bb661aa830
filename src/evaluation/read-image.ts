import { readFile, stat } from 'node:fs/promises'
import { ActionError } from '../lib/errors.ts'
import type { AnalysisRequest, ImageAnalysis } from '../vision/image-analysis.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'

/** Analyzes one image with the evaluated models. */
export type AnalyzeImage = (image: EncodedImage, request: AnalysisRequest) => Promise<ImageAnalysis>

/** The highest value of the setting IMAGE_BYTES_MAX. A larger file is not read into memory. */
export const imageFileBytesMax = 256 * 2 ** 20

/**
 * Reads an image file. A file that does not begin like a PNG counts as a JPEG.
 *
 * @throws ActionError IMAGE_TOO_LARGE when the file is larger than the service can ever accept.
 */
export async function readImage(file: string): Promise<EncodedImage> {
  const { size } = await stat(file)
  if (size > imageFileBytesMax)
    throw new ActionError(
      'IMAGE_TOO_LARGE',
      `${file} has ${size} bytes; at most ${imageFileBytesMax} are read`,
    )
  const bytes = await readFile(file)
  return {
    bytes: bytes.toString('base64'),
    contentType: bytes[0] === 0x89 ? 'image/png' : 'image/jpeg',
  }
}
