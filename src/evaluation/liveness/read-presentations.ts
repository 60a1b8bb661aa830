import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { readLabels } from '../read-labels.ts'

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
 * @throws Error that names what is missing.
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
  const labels = await readLabels(folder, ['file', 'label'])
  return labels.map(({ file = '', label = '' }, index) => {
    if (file === '' || label === '')
      throw new Error(`${folder}/labels.csv: line ${index + 2} has no file or no label`)
    return { file: path.join(folder, file), kind: label }
  })
}

async function readFolders(folder: string): Promise<Presentation[]> {
  const files = await readdir(folder, { recursive: true }).catch((cause: unknown) => {
    throw new Error(`cannot read ${folder}`, { cause })
  })
  return files
    .filter((file) => /^[^/\\]+[/\\].*\.(?:jpe?g|png)$/iu.test(file))
    .sort()
    .map((file) => ({ file: path.join(folder, file), kind: file.split(/[/\\]/u)[0] ?? '' }))
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (stats) => stats.isFile(),
    () => false,
  )
}
