import { stat } from 'node:fs/promises'
import path from 'node:path'
import type { Template } from '../vision/embed/template.ts'
import type { AnalysisRequest, ImageAnalysis } from '../vision/image-analysis.ts'
import type { EncodedImage } from '../vision/image/input/encoded-image.ts'
import { analyzeCentralFace } from './find-central-face.ts'
import { mapConcurrent } from './map-concurrent.ts'
import { type LabelRow, readCsv } from './read-csv.ts'
import { type UnusableReason, isFile, listLabelledImages } from './read-image.ts'

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
