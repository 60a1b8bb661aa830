import { readFile, readdir, stat } from 'node:fs/promises'
import { ActionError, type ActionErrorCode, HttpError } from '../lib/errors.ts'
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

/**
 * Why an image could not be evaluated: the error code of the service, or one of these.
 * - FILE_NOT_FOUND: the labels name a file that does not exist.
 * - FILE_NOT_READABLE: the file cannot be read, for example because of its permissions.
 * - ANALYSIS_FAILED: the analysis took longer than VISION_TIMEOUT_MS or crashed a worker, twice.
 */
export type UnusableReason =
  | ActionErrorCode
  | 'FILE_NOT_FOUND'
  | 'FILE_NOT_READABLE'
  | 'ANALYSIS_FAILED'

/** An image that could not be evaluated. */
export type UnusableImage = { readonly file: string; readonly reason: UnusableReason }

/** An analysis that crashed a worker, or took too long, is repeated once. */
const attemptsMax = 2

/**
 * Reads and analyzes one image. A missing or damaged image is a result, so that it does not end the
 * evaluation of the other images.
 */
export async function analyzeFile(
  file: string,
  analyzeImage: (image: EncodedImage) => Promise<ImageAnalysis>,
): Promise<ImageAnalysis | { readonly unusable: UnusableReason }> {
  try {
    const image = await readImage(file)
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const analysis = await analyzeImage(image).catch(rethrowUnlessWorkerLost)
      if (analysis) return analysis
    }
    return { unusable: 'ANALYSIS_FAILED' }
  } catch (error) {
    if (error instanceof ActionError) return { unusable: error.code }
    const reason = fileReasonOf(error)
    if (reason) return { unusable: reason }
    throw error
  }
}

/** Ignores HTTP 503: the worker was lost. The queue is never full, see `imagesInFlightMax`. */
function rethrowUnlessWorkerLost(error: unknown): undefined {
  if (!(error instanceof HttpError)) throw error
}

function fileReasonOf(error: unknown): UnusableReason | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return error.code === 'ENOENT' ? 'FILE_NOT_FOUND' : 'FILE_NOT_READABLE'
}
