import { readdir, readFile, stat } from 'node:fs/promises'
import { ActionError } from '../lib/errors.ts'
import type { AnalysisRequest, ImageAnalysis } from '../vision/image-analysis.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'

/** Analyzes one image with the evaluated models. */
export type AnalyzeImage = (image: EncodedImage, request: AnalysisRequest) => Promise<ImageAnalysis>

/** The highest value of the setting IMAGE_BYTES_MAX. A larger file is not read into memory. */
export const imageFileBytesMax = 256 * 2 ** 20

/**
 * Reads an image file.
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
  return toEncodedImage(await readFile(file))
}

/** Returns an image as an API request contains it. Bytes that do not begin like a PNG count as a JPEG. */
export function toEncodedImage(bytes: Buffer): EncodedImage {
  const contentType = bytes[0] === 0x89 ? 'image/png' : 'image/jpeg'
  return { bytes: bytes.toString('base64'), contentType }
}

/** Returns the images in the subfolders of a folder, relative to it and sorted. */
export async function listLabelledImages(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true })
  return files.filter((file) => /^[^/\\]+[/\\].*\.(?:jpe?g|png)$/iu.test(file)).sort()
}

export function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (stats) => stats.isFile(),
    () => false,
  )
}
