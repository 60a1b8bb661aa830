import { open, readFile, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { newId } from '../lib/ids.ts'
import { sha256Of } from './convert/read-source.ts'

export type ArtifactState = 'whole' | 'missing' | 'damaged'

/** Compares the file at `place` with what it should be; what cannot be read as a file is damaged. */
export async function readArtifactState(place: string, sha256: string): Promise<ArtifactState> {
  try {
    return sha256Of(await readFile(place)) === sha256 ? 'whole' : 'damaged'
  } catch (error) {
    return isNotFound(error) ? 'missing' : 'damaged'
  }
}

/**
 * Puts `bytes` at `place` in one step: a reader finds the old file or the new one, never a part.
 *
 * The bytes are on the disk before the name is, so that a power cut cannot leave a file of zeros
 * under the right name. (Should the name itself be lost, the next start makes the file again.)
 *
 * Another start may take the unfinished file for a leftover and remove it: then it is written again.
 */
export async function writeFileAtomic(place: string, bytes: Uint8Array): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const unfinished = `${place}.${newId()}${unfinishedSuffix}`
    try {
      await writeAndSync(unfinished, bytes)
      await rename(unfinished, place)
      return
    } catch (error) {
      if (!isNotFound(error) || attempt === attemptsMax) {
        await rm(unfinished, { force: true })
        throw error
      }
    }
  }
}

/**
 * Removes the unfinished files of starts that were killed. Whether a start is still at work on one
 * cannot be known from another container, so all go: a live one writes its file again.
 *
 * @returns the names of the files.
 */
export async function removeUnfinishedFiles(folder: string): Promise<readonly string[]> {
  const leftovers = (await readdir(folder)).filter((name) => name.endsWith(unfinishedSuffix))
  for (const name of leftovers) await rm(path.join(folder, name), { force: true })
  return leftovers
}

const unfinishedSuffix = '.unfinished'

/** Every start removes leftovers once: this many would have to begin within one write to spoil it. */
const attemptsMax = 10

async function writeAndSync(place: string, bytes: Uint8Array): Promise<void> {
  await using file = await open(place, 'wx')
  await file.writeFile(bytes)
  await file.sync()
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
