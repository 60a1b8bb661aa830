import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { ModelSet } from '../../models/model-set.ts'

const entry = fileURLToPath(new URL('./self-test-process.ts', import.meta.url))

/**
 * Runs `selfTestModels` in a separate process. A file can be intact and still compute wrong results,
 * on another processor or with another version of the runtime.
 *
 * @throws Error naming each model with a wrong result; the server must not start then.
 */
export async function runSelfTest(modelsFolder: string, modelSet: ModelSet): Promise<void> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    entry,
    modelsFolder,
    JSON.stringify(modelSet),
  ])
  const mismatches = JSON.parse(stdout) as string[]
  if (mismatches.length > 0)
    throw new Error(`models return wrong results: ${mismatches.join('; ')}`)
}
