import { glob } from 'node:fs/promises'
import path from 'node:path'

/** Returns every n-th picture of each folder, in the order of their names. */
export async function findImages(folders: readonly string[], every: number): Promise<string[]> {
  const lists = folders.map(async (folder) => {
    const files = await Array.fromAsync(glob('**/*.{jpg,png}', { cwd: folder }))
    return files
      .toSorted()
      .filter((_, index) => index % every === 0)
      .map((file) => path.join(folder, file))
  })
  return (await Promise.all(lists)).flat()
}
