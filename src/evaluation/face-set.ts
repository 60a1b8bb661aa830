import { stat } from 'node:fs/promises'
import path from 'node:path'
import { readCsv, type LabelRow } from './read-csv.ts'
import { isFile, listLabelledImages } from './read-image.ts'

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
