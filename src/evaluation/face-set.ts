import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'

/** Labelled pictures of people, to measure comparisons on. */
export type FaceSet = {
  /** In a fixed order, whatever the order of the labels or of the disk. */
  readonly pictures: readonly LabelledImage[]
  /** The pairs of `pairs.csv`; `undefined` where the set is a folder of people. */
  readonly pairs?: readonly LabelledPair[]
}

export type LabelledImage = {
  /** Its path, openable from the working directory. */
  readonly file: string
  /** Who it shows: the name of the folder that it lies in. */
  readonly person: string
}

/** `a` and `b` are indices into `pictures`. */
export type LabelledPair = { readonly a: number; readonly b: number; readonly same: boolean }

/**
 * Reads a folder with one folder for each person in it, or a `pairs.csv` with the columns `fileA`,
 * `fileB` (relative to it) and `same` (1 or 0), or the folder that such a file lies in.
 *
 * @throws Error that says what is missing.
 */
export async function readFaceSet(place: string): Promise<FaceSet> {
  if (!(await isFolder(place))) return readPairs(place)
  const pairs = path.join(place, 'pairs.csv')
  return (await isFile(pairs)) ? readPairs(pairs) : readPeople(place)
}

async function readPairs(place: string): Promise<FaceSet> {
  const text = await readFile(place, 'utf8')
  const rows: Record<string, string>[] = parse(text, { columns: true, bom: true, trim: true })
  const folder = path.dirname(place)
  const files = rows.map(({ fileA, fileB, same }, index) => {
    if (!fileA || !fileB || (same !== '0' && same !== '1'))
      throw new Error(`${place}: line ${index + 2} has no fileA, fileB and same (1 or 0)`)
    return { a: path.join(folder, fileA), b: path.join(folder, fileB), same: same === '1' }
  })
  if (files.length === 0) throw new Error(`${place} has no pairs`)
  const sorted = [...new Set(files.flatMap(({ a, b }) => [a, b]))].sort()
  const indices = new Map(sorted.map((file, index) => [file, index]))
  const indexOf = (file: string): number => indices.get(file) ?? -1
  return {
    pictures: sorted.map(toLabelledImage),
    pairs: files.map(({ a, b, same }) => ({ a: indexOf(a), b: indexOf(b), same })),
  }
}

async function readPeople(place: string): Promise<FaceSet> {
  const files = await readdir(place, { recursive: true })
  const pictures = files
    .filter((file) => /^[^/\\]+[/\\].*\.(?:jpe?g|png)$/iu.test(file))
    .sort()
    .map((file) => toLabelledImage(path.join(place, file)))
  if (pictures.length === 0) throw new Error(`${place} has no folders with JPEG or PNG files`)
  return { pictures }
}

function toLabelledImage(file: string): LabelledImage {
  return { file, person: path.basename(path.dirname(file)) }
}

async function isFolder(place: string): Promise<boolean> {
  const found = await stat(place).catch((cause: unknown) => {
    throw new Error(`cannot read ${place}`, { cause })
  })
  return found.isDirectory()
}

async function isFile(place: string): Promise<boolean> {
  return stat(place).then(
    (found) => found.isFile(),
    () => false,
  )
}
