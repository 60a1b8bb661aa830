import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { InstalledModel } from '../../models/model-set.ts'

const entry = fileURLToPath(new URL('./smoke-test-process.ts', import.meta.url))

/** A large network takes seconds; one that takes a minute for a picture is of no use here. */
const smokeTestMsMax = 60_000

/**
 * `probe` in a process of its own: a file that crashes the runtime crashes no more than that.
 *
 * @returns what is wrong in one sentence; undefined when nothing is.
 */
export async function runSmokeTest(model: InstalledModel): Promise<string | undefined> {
  const args = [entry, JSON.stringify(model)]
  try {
    const { stdout } = await promisify(execFile)(process.execPath, args, {
      timeout: smokeTestMsMax,
    })
    return (JSON.parse(stdout) as { fault?: string }).fault
  } catch {
    return 'the process that ran it died or did not end'
  }
}
