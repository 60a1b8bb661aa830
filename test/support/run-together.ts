import { createHook, type AsyncHook } from 'node:async_hooks'
import path from 'node:path'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
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
  const runnerHooks = collectEnabledHooks()
  shareAmongFiles()
  endAtUncaughtErrors()
  for (const file of files)
    void test(file, () => {
      for (const hook of runnerHooks) hook.enable()
      void describe('tests', async () => {
        await import(path.join(rootDir, file))
        for (const hook of runnerHooks) hook.disable()
      })
    })
}

/**
 * Returns the list of the hooks that are enabled from now on. The test runner enables one, which runs
 * for each promise and takes a fourth of the processor time of the tests. While a file is loaded, the
 * runner finds the suite of each test by it. Afterwards only errors outside of tests would need it.
 */
function collectEnabledHooks(): readonly AsyncHook[] {
  const hooks: AsyncHook[] = []
  const prototype = Object.getPrototypeOf(createHook({})) as AsyncHook
  // oxlint-disable-next-line typescript/unbound-method -- it is called with the hook.
  const { enable } = prototype
  prototype.enable = function enableAndCollect(this: AsyncHook) {
    if (!hooks.includes(this)) hooks.push(this)
    return enable.call(this)
  }
  return hooks
}

/** Without its hook, the runner does not find the test of such an error, which would never end. */
function endAtUncaughtErrors(): void {
  const end = (error: unknown): never => {
    process.stderr.write(`${inspect(error)}\n`)
    process.exit(1)
  }
  process.prependListener('uncaughtException', end)
  process.prependListener('unhandledRejection', end)
}
