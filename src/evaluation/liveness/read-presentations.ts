import path from 'node:path'
import { readCsv } from '../read-csv.ts'
import { isFile, listLabelledImages } from '../face-images.ts'

/** An image labelled as a live person or as an attack. */
export type Presentation = {
  /** Path, relative to the working directory or absolute. */
  readonly file: string
  /** `live` or the kind of attack. */
  readonly kind: string
}

/** The kind of bona fide presentations. */
export const liveKind = 'live'

/**
 * Reads a folder with `labels.csv` (columns `file` and `label`), or with one subfolder per kind:
 * `live` and one for each kind of attack.
 *
 * @throws Error that names what is missing, or the invalid line.
 */
export async function readPresentations(folder: string): Promise<Presentation[]> {
  const presentations = (await isFile(path.join(folder, 'labels.csv')))
    ? await readLabelled(folder)
    : await readFolders(folder)
  if (!presentations.some(({ kind }) => kind === liveKind))
    throw new Error(`${folder} has no images of live people (a folder or label "live")`)
  if (presentations.every(({ kind }) => kind === liveKind))
    throw new Error(`${folder} has no attacks`)
  return presentations
}

async function readLabelled(folder: string): Promise<Presentation[]> {
  const rows = await readCsv(path.join(folder, 'labels.csv'), ['file', 'label'])
  return rows.map(({ location, cells: { file = '', label = '' } }) => {
    if (file === '') throw new Error(`${location}: file is empty; name an image`)
    if (label === '')
      throw new Error(`${location}: label is empty; write "${liveKind}" or the kind of attack`)
    return { file: path.join(folder, file), kind: label }
  })
}

async function readFolders(folder: string): Promise<Presentation[]> {
  const files = await listLabelledImages(folder).catch((cause: unknown) => {
    throw new Error(`cannot read ${folder}; pass an existing folder`, { cause })
  })
  return files.map((file) => ({
    file: path.join(folder, file),
    kind: file.split(/[/\\]/u)[0] ?? '',
  }))
}
