import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { ModelSet } from '../../models/model-set.ts'

const entry = fileURLToPath(new URL('./self-test-process.ts', import.meta.url))

/**
 * Has a process of its own run every model of the pack and of `set` on its fixed input. A file can be whole and
 * still not compute what it should, on another processor or with another runtime.
 *
 * @throws Error that names each model with a wrong answer; the start must then refuse.
 */
export async function runSelfTest(modelsFolder: string, set: ModelSet): Promise<void> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    entry,
    modelsFolder,
    JSON.stringify(set),
  ])
  const mismatches = JSON.parse(stdout) as string[]
  if (mismatches.length > 0)
    throw new Error(`models do not compute what they should: ${mismatches.join('; ')}`)
}
