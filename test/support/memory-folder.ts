import { existsSync } from 'node:fs'
import { chmod, mkdtemp, statfs } from 'node:fs/promises'
import path from 'node:path'
import { startExitScript } from './exit-script.ts'

/** The file system in memory that Linux has. */
const sharedMemory = '/dev/shm'

/** A whole run writes less than half of it at a time. */
const freeBytesMin = 4 * 2 ** 30

/** A folder for temporary files, the writes of which wait for no disk. */
export type MemoryFolder = { readonly folder: string; readonly remove: () => Promise<void> }

/**
 * Creates a folder in memory for the databases of the tests. The tests kill processes, never the
 * machine, so that a file in memory survives as much as one on a disk.
 *
 * @returns undefined if this machine has no such file system, or too little free space in it.
 */
export async function createMemoryFolder(): Promise<MemoryFolder | undefined> {
  if (!existsSync(sharedMemory)) return undefined
  const { bavail, bsize } = await statfs(sharedMemory)
  if (bavail * bsize < freeBytesMin) return undefined
  const folder = await mkdtemp(path.join(sharedMemory, 'facegate-tests-'))
  // The processes of PostgreSQL run as another user.
  await chmod(folder, 0o1777)
  return { folder, remove: startExitScript('rm -rf "$1"', folder).run }
}
