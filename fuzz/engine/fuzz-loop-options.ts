import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import type { FuzzTarget } from '../targets/target.ts'
import type { Corpus } from './corpus.ts'
import type { Coverage } from './coverage.ts'

export type FuzzLoopOptions = {
  readonly target: FuzzTarget
  readonly corpus: Corpus
  readonly random: RandomSource
  /** Without it, the corpus grows by new outcomes only. */
  readonly coverage: Coverage | undefined
  /** Receives each input before it is parsed. */
  readonly onInput: (input: Uint8Array) => void
  readonly onDefect: (input: Uint8Array, text: string) => void
}
