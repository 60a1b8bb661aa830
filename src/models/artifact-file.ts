import { open, readFile, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { newId } from '../lib/ids.ts'
import { sha256Of } from './sha256.ts'

/** Compares a file with its expected SHA-256. A file that cannot be read is damaged. */
export async function readArtifactState(filePath: string, sha256: string) {
  try {
    return sha256Of(await readFile(filePath)) === sha256 ? 'valid' : 'damaged'
  } catch (error) {
    return isNotFound(error) ? 'missing' : 'damaged'
  }
}

/**
 * Writes a file atomically: a reader finds the old content or the new one, never a part.
 *
 * The bytes are synced to the disk before the rename, so that a power failure cannot leave a file of
 * zeros under the final name. (If the rename is lost, the next start creates the file again.)
 *
 * A concurrent start may remove the unfinished file (`removeUnfinishedFiles`): then it is written again.
 */
export async function writeFileAtomic(filePath: string, bytes: Uint8Array): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const unfinishedPath = `${filePath}.${newId()}${unfinishedSuffix}`
    try {
      await writeAndSync(unfinishedPath, bytes)
      await rename(unfinishedPath, filePath)
      return
    } catch (error) {
      if (!isNotFound(error) || attempt === attemptsMax) {
        await rm(unfinishedPath, { force: true })
        throw error
      }
    }
  }
}

/**
 * Removes the unfinished files of starts that were killed. A start in another container cannot be
 * detected, so all unfinished files are removed; a running start writes its file again.
 *
 * @returns the names of the files.
 */
export async function removeUnfinishedFiles(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(unfinishedSuffix))
  for (const name of names) await rm(path.join(folder, name), { force: true })
  return names
}

const unfinishedSuffix = '.unfinished'

/** Every start removes unfinished files once; this many starts within one write make it fail. */
const attemptsMax = 10

async function writeAndSync(filePath: string, bytes: Uint8Array): Promise<void> {
  await using file = await open(filePath, 'wx')
  await file.writeFile(bytes)
  await file.sync()
}

/** Whether a file or folder does not exist. */
export function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
