import type { Coverage } from './coverage.ts'
import type { FuzzLoopOptions } from './fuzz-loop-options.ts'
import { execute } from './execute.ts'

/**
 * Adds the inputs that execute new code to the corpus. They are found by halving the batch, because
 * reading the coverage takes longer than parsing hundreds of inputs.
 */
export async function addNewCoverage(
  options: Pick<FuzzLoopOptions, 'target' | 'corpus' | 'onInput'>,
  inputs: readonly Uint8Array[],
  coverage: Coverage,
): Promise<void> {
  for (const input of inputs) {
    options.onInput(input)
    await execute(options.target, input)
  }
  const before = coverage.save()
  if (coverage.take() === 0) return
  const [only] = inputs
  if (inputs.length === 1 && only) return options.corpus.add(only)
  coverage.restore(before)
  const half = Math.ceil(inputs.length / 2)
  await addNewCoverage(options, inputs.slice(0, half), coverage)
  await addNewCoverage(options, inputs.slice(half), coverage)
}
