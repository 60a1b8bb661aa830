import type { BuiltinModel } from '../../models/builtin/builtin-model.ts'
import { goldenInput } from '../../models/builtin/golden.ts'
import { openOptimizedNetwork } from '../session.ts'
import type { Int8Measurement } from './copy-report.ts'

/**
 * The int8 version is used if it is faster by this factor. A smaller gain is not worth its rounding
 * errors. A processor without fast instructions for 8-bit integers can be slower with it.
 */
const speedupMin = 1.4

export function isWorthwhile({ float32Ms, int8Ms }: Int8Measurement): boolean {
  return float32Ms >= speedupMin * int8Ms
}

/**
 * Measures both versions of a network on this machine. They run in turn, and the shortest processor
 * time of each counts, because other work on the machine only lengthens it. No round starts after
 * `measurementMsMax`; the first round also counts if it is the only one.
 */
export async function measureInt8(
  model: Pick<BuiltinModel, 'input'>,
  paths: { readonly float32: string; readonly int8: string },
): Promise<Int8Measurement> {
  const float32 = await openOptimizedNetwork(paths.float32, model.input)
  const int8 = await openOptimizedNetwork(paths.int8, model.input)
  const input = goldenInput(model)
  const runs = []
  const endMs = performance.now() + measurementMsMax
  do
    runs.push({
      float32Ms: await processorMs(() => float32.run(input)),
      int8Ms: await processorMs(() => int8.run(input)),
    })
  while (runs.length < warmUpRounds + rounds && performance.now() < endMs)
  await float32.close()
  await int8.close()
  const measured = runs.slice(Math.min(warmUpRounds, runs.length - 1))
  return {
    float32Ms: Math.min(...measured.map(({ float32Ms }) => float32Ms)),
    int8Ms: Math.min(...measured.map(({ int8Ms }) => int8Ms)),
  }
}

const warmUpRounds = 2
const rounds = 9

/**
 * All rounds of the largest network take 2 s on a server. On an emulated processor one run takes
 * 15 to 25 s, so that all rounds of the three networks would take a quarter of an hour.
 */
const measurementMsMax = 10_000

async function processorMs(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
