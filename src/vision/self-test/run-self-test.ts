import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { SelfTestOptions } from './self-test.ts'

const entry = fileURLToPath(new URL('./self-test-process.ts', import.meta.url))

/**
 * Runs `selfTestModels` in a separate process. A file can be intact and still compute wrong results,
 * on another processor or with another version of the runtime.
 *
 * @throws Error naming each model with a wrong result; the server must not start then.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<void> {
  const { modelsFolder, optimizedFolder, modelSet } = options
  const { stdout } = await promisify(execFile)(process.execPath, [
    entry,
    JSON.stringify({ modelsFolder, optimizedFolder, modelSet }),
  ])
  const mismatches = JSON.parse(stdout) as string[]
  if (mismatches.length > 0)
    throw new Error(`models return wrong results: ${mismatches.join('; ')}`)
}
