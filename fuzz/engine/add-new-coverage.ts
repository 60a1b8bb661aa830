import type { FuzzTarget } from '../targets/target.ts'
import type { Corpus } from './corpus.ts'
import type { Coverage } from './coverage.ts'
import { execute } from './execute.ts'

/**
 * Adds the inputs that execute new code to the corpus. They are found by halving the batch, because
 * reading the coverage takes longer than parsing hundreds of inputs.
 */
export async function addNewCoverage(
  { target, corpus }: { readonly target: FuzzTarget; readonly corpus: Corpus },
  inputs: readonly Uint8Array[],
  coverage: Coverage,
): Promise<void> {
  for (const input of inputs) await execute(target, input)
  const before = coverage.save()
  if (coverage.take() === 0) return
  const [only] = inputs
  if (inputs.length === 1 && only) return corpus.add(only)
  coverage.restore(before)
  const half = Math.ceil(inputs.length / 2)
  await addNewCoverage({ target, corpus }, inputs.slice(0, half), coverage)
  await addNewCoverage({ target, corpus }, inputs.slice(half), coverage)
}
