import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { InstalledModel } from '../../models/model-set.ts'
import type { SelfTestOptions } from './self-test.ts'

/**
 * Runs `selfTestModels` in a separate process. A file can be intact and still compute wrong results,
 * on another processor or with another version of the runtime.
 *
 * @throws Error naming each model with a wrong result; the server must not start then.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<void> {
  const { modelsFolder, optimizedFolder, modelSet } = options
  const entry = new URL('./self-test-process.ts', import.meta.url)
  const mismatches = await runProcess<string[]>(entry, { modelsFolder, optimizedFolder, modelSet })
  if (mismatches.length > 0)
    throw new Error(`models return wrong results: ${mismatches.join('; ')}`)
}

/**
 * Runs `smokeTest` in a separate process, because a damaged file can crash the runtime.
 *
 * @returns one sentence that describes the fault; undefined if there is none.
 */
export async function runSmokeTest(model: InstalledModel): Promise<string | undefined> {
  try {
    const entry = new URL('./smoke-test-process.ts', import.meta.url)
    return (await runProcess<{ fault?: string }>(entry, model, smokeTestMsMax)).fault
  } catch {
    return 'the test process crashed or timed out'
  }
}

/** A large network takes seconds. A network that takes a minute per image is not usable. */
const smokeTestMsMax = 60_000

/** Runs an entry module with one argument and returns the JSON that it prints. */
async function runProcess<Result>(
  entry: URL,
  argument: unknown,
  timeout?: number,
): Promise<Result> {
  const args = [fileURLToPath(entry), JSON.stringify(argument)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout })
  return JSON.parse(stdout) as Result
}
