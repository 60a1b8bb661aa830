import { rm, writeFile } from 'node:fs/promises'

/**
 * Writes a new file that only its owner can read. On a full disk, no part of it remains.
 *
 * @throws Error if the file exists already.
 */
export async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')
      throw new Error(`${file} exists already; name another file`, { cause })
    if (!(cause instanceof Error && 'path' in cause)) await rm(file, { force: true })
    throw cause
  }
}
