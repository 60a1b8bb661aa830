import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'

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
  const text = await readFile(source, 'utf8')
  const rows: Record<string, string>[] = parse(text, { columns: true, bom: true, trim: true })
  const folder = path.dirname(source)
  const files = rows.map(({ fileA, fileB, same }, index) => {
    if (!fileA || !fileB || (same !== '0' && same !== '1'))
      throw new Error(`${source}: line ${index + 2} has no fileA, fileB and same (1 or 0)`)
    return { a: path.join(folder, fileA), b: path.join(folder, fileB), same: same === '1' }
  })
  if (files.length === 0) throw new Error(`${source} has no pairs`)
  const sorted = [...new Set(files.flatMap(({ a, b }) => [a, b]))].sort()
  const indices = new Map(sorted.map((file, index) => [file, index]))
  const indexOf = (file: string): number => indices.get(file) ?? -1
  return {
    images: sorted.map(toLabelledImage),
    pairs: files.map(({ a, b, same }) => ({ a: indexOf(a), b: indexOf(b), same })),
  }
}

async function readPeople(source: string): Promise<FaceSet> {
  const files = await readdir(source, { recursive: true })
  const images = files
    .filter((file) => /^[^/\\]+[/\\].*\.(?:jpe?g|png)$/iu.test(file))
    .sort()
    .map((file) => toLabelledImage(path.join(source, file)))
  if (images.length === 0) throw new Error(`${source} has no folders with JPEG or PNG files`)
  return { images }
}

function toLabelledImage(file: string): LabelledImage {
  return { file, person: path.basename(path.dirname(file)) }
}

async function isFolder(source: string): Promise<boolean> {
  const stats = await stat(source).catch((cause: unknown) => {
    throw new Error(`cannot read ${source}`, { cause })
  })
  return stats.isDirectory()
}

async function isFile(source: string): Promise<boolean> {
  return stat(source).then(
    (stats) => stats.isFile(),
    () => false,
  )
}
