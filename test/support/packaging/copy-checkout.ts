import { cp } from 'node:fs/promises'
import path from 'node:path'
import { rootDir } from '../paths.ts'
import { runTool } from './tools.ts'

/** Copies the files under version control, so that the checkout stays as it is. */
export async function copyCheckout(
  target: string,
  isCopied: (file: string) => boolean,
): Promise<void> {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout } = await runTool('git', options, { cwd: rootDir })
  for (const file of stdout.split('\0').filter((name) => name !== '' && isCopied(name))) {
    const source = path.join(rootDir, file)
    await cp(source, path.join(target, file)).catch((error: NodeJS.ErrnoException) => {
      // A file that was deleted but is still under version control.
      if (error.code !== 'ENOENT') throw error
    })
  }
}
