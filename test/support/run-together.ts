import path from 'node:path'
import { describe, test } from 'node:test'
import { rootDir } from './paths.ts'
import { shareAmongFiles } from './shared-service.ts'

/**
 * Runs test files in this process, one after another. Loading the modules of the service takes more
 * processor time than most of them. Each file is loaded after the tests of the earlier ones, and is a
 * suite: its tests start after it is loaded, and its hooks run before and after its own tests. With
 * `--test-isolation=none`, the hooks of all files run at the start and at the end.
 *
 * @param files paths from the root of the project.
 */
export function runTogether(files: readonly string[]): void {
  shareAmongFiles()
  for (const file of files)
    void test(file, () => {
      void describe('tests', async () => void (await import(path.join(rootDir, file))))
    })
}
