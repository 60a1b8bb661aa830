import { addNewCoverage } from './add-new-coverage.ts'
import { findLargeInputs, measureCpuMs } from './check-limits.ts'
import { execute, fuzzLimits } from './execute.ts'
import type { FuzzLoopOptions } from './fuzz-loop-options.ts'
import { mutate } from './mutate.ts'

export type FuzzLoop = {
  /** Parses mutated inputs for this long. */
  readonly run: (milliseconds: number) => Promise<FuzzProgress>
}

export type FuzzProgress = {
  readonly inputs: number
  readonly corpus: number
  readonly outcomes: number
  /** The highest CPU time of one input, ms; 0 if all were far below the limit. */
  readonly cpuMsMax: number
}

/** The coverage is read after each batch. */
const batchMs = 400
const batchInputsMax = 10_000

/** With more outcomes than this, further ones are names of the input rather than kinds. */
const outcomesMax = 500

/** Inputs with less wall time are never over the limit of CPU time. */
const suspiciousMs = 60

/** Memory is measured after this number of inputs. */
const memoryInterval = 64

/** Parses the corpus, then mutations of it. */
export async function createFuzzLoop(options: FuzzLoopOptions): Promise<FuzzLoop> {
  const { target, corpus, random, coverage, onDefect } = options
  const tokens = target.tokens.map((token) => Buffer.from(token, 'latin1'))
  const other = (): Uint8Array =>
    corpus.inputs[Math.floor(random() * corpus.inputs.length * 0.9999)] ?? new Uint8Array()
  const { parse, outcomes, cpuMsMax } = createInputParser(options)

  async function runBatch(endMs: number): Promise<number> {
    const batch: Uint8Array[] = []
    const batchEndMs = Math.min(endMs, performance.now() + batchMs)
    const before = coverage?.save()
    let buffers = process.memoryUsage().arrayBuffers
    while (batch.length < batchInputsMax && performance.now() < batchEndMs) {
      const input = mutate(other(), { random, tokens, other })
      batch.push(input)
      if (await parse(input)) corpus.add(input)
      if (batch.length % memoryInterval > 0) continue
      if (process.memoryUsage().arrayBuffers - buffers > fuzzLimits.bufferBytesMax)
        for (const large of await findLargeInputs(target, batch.slice(-memoryInterval)))
          onDefect(large.input, `Memory: ${Math.round(large.bytes / 2 ** 20)} MiB of buffers`)
      buffers = process.memoryUsage().arrayBuffers
    }
    if (coverage && before && coverage.take() > 0) {
      coverage.restore(before)
      await addNewCoverage(options, batch, coverage)
    }
    return batch.length
  }

  for (const input of corpus.inputs) await parse(input)
  coverage?.take()
  return {
    run: async (milliseconds) => {
      const endMs = performance.now() + milliseconds
      let inputs = 0
      while (performance.now() < endMs) inputs += await runBatch(endMs)
      return {
        inputs,
        corpus: corpus.inputs.length,
        outcomes: outcomes.size,
        cpuMsMax: cpuMsMax(),
      }
    },
  }
}

function createInputParser({ target, onInput, onDefect }: FuzzLoopOptions) {
  const outcomes = new Set<string>()
  let cpuMsMax = 0

  /** Parses one input within the limits. @returns whether its outcome is new. */
  async function parse(input: Uint8Array): Promise<boolean> {
    onInput(input)
    const startMs = performance.now()
    const { outcome, defect } = await execute(target, input)
    if (performance.now() - startMs > suspiciousMs) {
      const cpuMs = await measureCpuMs(target, input)
      cpuMsMax = Math.max(cpuMsMax, cpuMs)
      if (cpuMs > fuzzLimits.cpuMsMax) onDefect(input, `Hang: ${cpuMs.toFixed(0)} ms of CPU time`)
    }
    if (defect !== undefined) onDefect(input, defect)
    if (outcomes.has(outcome) || outcomes.size >= outcomesMax) return false
    outcomes.add(outcome)
    return true
  }

  return { parse, outcomes, cpuMsMax: () => cpuMsMax }
}
