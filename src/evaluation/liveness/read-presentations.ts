import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { readLabels } from '../read-labels.ts'

/** A picture of which it is known whether the camera saw a person. */
export type Presentation = {
  /** Its path, openable from the working directory. */
  readonly file: string
  /** `live`, or which kind of attack it is. */
  readonly kind: string
}

/** The kind of bona fide presentations. */
export const liveKind = 'live'

/**
 * Reads a folder with `labels.csv` (columns `file` and `label`), or with one folder for each kind in
 * it: `live` and what the attacks are called.
 *
 * @throws Error that says what is missing.
 */
export async function readPresentations(folder: string): Promise<Presentation[]> {
  const found = (await isFile(path.join(folder, 'labels.csv')))
    ? await readLabelled(folder)
    : await readFolders(folder)
  if (!found.some(({ kind }) => kind === liveKind))
    throw new Error(`${folder} has no pictures of live people (a folder or label "live")`)
  if (found.every(({ kind }) => kind === liveKind)) throw new Error(`${folder} has no attacks`)
  return found
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

async function isFile(place: string): Promise<boolean> {
  return stat(place).then(
    (found) => found.isFile(),
    () => false,
  )
}
