import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { InstalledModel } from '../../models/model-set.ts'

const entry = fileURLToPath(new URL('./smoke-test-process.ts', import.meta.url))

/** A large network takes seconds. A network that takes a minute per image is not usable. */
const smokeTestMsMax = 60_000

/**
 * Runs `smokeTest` in a separate process, because a damaged file can crash the runtime.
 *
 * @returns one sentence that describes the fault; undefined if there is none.
 */
export async function runSmokeTest(model: InstalledModel): Promise<string | undefined> {
  const args = [entry, JSON.stringify(model)]
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      timeout: smokeTestMsMax,
    })
    return (JSON.parse(stdout) as { fault?: string }).fault
  } catch {
    return 'the test process crashed or timed out'
  }
}
