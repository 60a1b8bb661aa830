import { readFile, readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { ActionError, type ActionErrorCode, HttpError } from '../lib/errors.ts'
import type { Template } from '../vision/embed/template.ts'
import type { AnalysisRequest, FaceResult, ImageAnalysis } from '../vision/image-analysis.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import { mapConcurrent } from './map-concurrent.ts'
import { type LabelRow, readCsv } from './read-csv.ts'

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

/** Labelled images of people, to measure comparisons on. */
export type FaceSet = {
  /** Sorted by file name, so the order depends neither on the labels nor on the disk. */
  readonly images: readonly LabelledImage[]
  /** The pairs of `pairs.csv`; undefined if the set is a folder of people. */
  readonly pairs?: readonly LabelledPair[]
}

export type LabelledImage = {
  /** Path, relative to the working directory or absolute. */
  readonly file: string
  /** The person shown: the name of the folder that contains the file. */
  readonly person: string
}

/** `a` and `b` are indexes into `images`. */
export type LabelledPair = { readonly a: number; readonly b: number; readonly same: boolean }

/**
 * Reads a set of labelled images. `source` is one of:
 * - a folder with one subfolder per person,
 * - a `pairs.csv` with the columns `fileA`, `fileB` (relative to the file) and `same` (1 or 0),
 * - a folder with such a file.
 *
 * @throws Error that names the missing file, folder or column.
 */
export async function readFaceSet(source: string): Promise<FaceSet> {
  if (!(await isFolder(source))) return readPairs(source)
  const pairs = path.join(source, 'pairs.csv')
  return (await isFile(pairs)) ? readPairs(pairs) : readPeople(source)
}

async function readPairs(source: string): Promise<FaceSet> {
  const rows = await readCsv(source, ['fileA', 'fileB', 'same'])
  const files = rows.map((row) => parsePair(row, path.dirname(source)))
  const sorted = [...new Set(files.flatMap(({ a, b }) => [a, b]))].sort()
  const indices = new Map(sorted.map((file, index) => [file, index]))
  const indexOf = (file: string): number => indices.get(file) ?? -1
  return {
    images: sorted.map(toLabelledImage),
    pairs: files.map(({ a, b, same }) => ({ a: indexOf(a), b: indexOf(b), same })),
  }
}

function parsePair({ location, cells }: LabelRow, folder: string) {
  const { fileA = '', fileB = '', same = '' } = cells
  if (fileA === '' || fileB === '' || (same !== '0' && same !== '1'))
    throw new Error(
      `${location} has no fileA, fileB and same (1 or 0); name two images, ` +
        'and write 1 for one person or 0 for two people',
    )
  const [a, b] = [path.join(folder, fileA), path.join(folder, fileB)]
  if (a === b) throw new Error(`${location}: fileA and fileB are the same file; name two images`)
  return { a, b, same: same === '1' }
}

async function readPeople(source: string): Promise<FaceSet> {
  const files = await listLabelledImages(source)
  const images = files.map((file) => toLabelledImage(path.join(source, file)))
  if (images.length === 0)
    throw new Error(`${source} has no folders with JPEG or PNG files; create one folder per person`)
  return { images }
}

function toLabelledImage(file: string): LabelledImage {
  return { file, person: path.basename(path.dirname(file)) }
}

async function isFolder(source: string): Promise<boolean> {
  const stats = await stat(source).catch((cause: unknown) => {
    throw new Error(`cannot read ${source}; pass an existing folder or pairs.csv`, { cause })
  })
  return stats.isDirectory()
}

/** The request for an image of a known person. Other people may be in the image. */
export const templatesRequest: AnalysisRequest = {
  minFaceConfidence: 0.6,
  minFaceSizePx: 20,
  maxFaces: 20,
  crops: false,
  templates: true,
}

/** The template of an image, or the reason why it has none. */
export type ExtractedTemplate = Template | { readonly unusable: UnusableReason }

/** Returns the template of the face nearest the centre of each image, in the order of `images`. */
export function extractTemplates(
  images: readonly LabelledImage[],
  analyzeImage: (image: EncodedImage) => Promise<ImageAnalysis>,
  onProgress: (done: number, total: number) => void,
): Promise<ExtractedTemplate[]> {
  const extract = async ({ file }: LabelledImage): Promise<ExtractedTemplate> => {
    const face = await analyzeCentralFace(file, analyzeImage)
    return 'unusable' in face ? face : (face.template ?? { unusable: 'NO_FACE_FOUND' })
  }
  return mapConcurrent(images, extract, onProgress)
}

/** Analyzes one image and returns the face nearest its centre, or the reason if there is none. */
export async function analyzeCentralFace(
  file: string,
  analyzeImage: (image: EncodedImage) => Promise<ImageAnalysis>,
): Promise<FaceResult | { readonly unusable: UnusableReason }> {
  const analysis = await analyzeFile(file, analyzeImage)
  if ('unusable' in analysis) return analysis
  return findCentralFace(analysis) ?? { unusable: 'NO_FACE_FOUND' }
}

/** Returns the face whose box is nearest the image centre; undefined if no face was found. */
export function findCentralFace({ width, height, faces }: ImageAnalysis): FaceResult | undefined {
  const distanceToCentre = ({ boundingBox: box }: FaceResult): number =>
    Math.hypot(box.left + (box.width - width) / 2, box.top + (box.height - height) / 2)
  return faces.toSorted((a, b) => distanceToCentre(a) - distanceToCentre(b))[0]
}
