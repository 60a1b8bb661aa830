import type { ModelEntry } from './manifest.ts'

/** The fixed input of a model: its tensor `[1, channels, height, width]`, flat. */
export declare function goldenInput(entry: ModelEntry): Float32Array

/**
 * Says what is wrong with `outputs` (name → flat float32 values of one run on `goldenInput`), or
 * `undefined` when the network computes what it should.
 */
export declare function goldenMismatch(
  entry: ModelEntry,
  outputs: Readonly<Record<string, ArrayLike<number>>>,
): string | undefined
