import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import type { SelfTestOptions } from './self-test.ts'
import { openSelfTestRecord } from './self-test-record.ts'

const entry = fileURLToPath(new URL('./self-test-process.ts', import.meta.url))

/**
 * Runs `selfTestModels` in a separate process. A file can be intact and still compute wrong results,
 * on another processor or with another version of the runtime. A start skips the test if it passed
 * before with the same networks, processor and runtime.
 *
 * @throws Error naming each model with a wrong result; the server must not start then.
 */
export async function runSelfTest(options: SelfTestOptions): Promise<void> {
  const { modelsFolder, optimizedFolder, modelSet } = options
  const record = await openSelfTestRecord(options)
  if (await record?.hasPassed()) return
  const { stdout } = await promisify(execFile)(process.execPath, [
    entry,
    JSON.stringify({ modelsFolder, optimizedFolder, modelSet }),
  ])
  const mismatches = JSON.parse(stdout) as string[]
  if (mismatches.length > 0)
    throw new Error(`models return wrong results: ${mismatches.join('; ')}`)
  await record?.savePassed()
}
