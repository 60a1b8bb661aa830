import type { FuzzTarget } from '../targets/target.ts'
import { execute, fuzzLimits } from './execute.ts'

/**
 * Measures the CPU time of one input. It is the least of three runs: garbage collection and
 * compilation are not part of the parser.
 */
export async function measureCpuMs(target: FuzzTarget, input: Uint8Array): Promise<number> {
  let cpuMs = Infinity
  for (let run = 0; run < 3; run++) {
    const before = process.threadCpuUsage()
    await execute(target, input)
    const { user, system } = process.threadCpuUsage(before)
    cpuMs = Math.min(cpuMs, (user + system) / 1000)
  }
  return cpuMs
}

/** Returns the inputs that allocate more than the limit each, by parsing each one again. */
export async function findLargeInputs(
  target: FuzzTarget,
  inputs: readonly Uint8Array[],
): Promise<{ readonly input: Uint8Array; readonly bytes: number }[]> {
  const found: { input: Uint8Array; bytes: number }[] = []
  for (const input of inputs) {
    globalThis.gc?.()
    const before = process.memoryUsage().arrayBuffers
    await execute(target, input)
    const bytes = process.memoryUsage().arrayBuffers - before
    if (bytes > fuzzLimits.bufferBytesMax) found.push({ input, bytes })
  }
  return found
}
