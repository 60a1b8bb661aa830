import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import type { CallBody, CallTarget } from './send-call.ts'
import type { SoakImages } from './soak-images.ts'

export type SoakCallContext = CallTarget & {
  readonly images: SoakImages
  readonly random: RandomSource
}

// The soak reads responses of every action.
// oxlint-disable-next-line typescript/no-explicit-any
type Results = any

export type SoakCaller = SoakCallContext & {
  readonly pick: <T>(items: readonly T[]) => T | undefined
  /** Sends a call without an image. @returns its results, or undefined if it was rejected. */
  readonly call: (action: string, params: object) => Promise<Results>
  /** Sends a call with a price and keeps it for replays. */
  readonly callWithImage: (action: string, params: object) => Promise<Results>
  readonly answered: readonly AnsweredCall[]
}

export type AnsweredCall = { readonly body: CallBody; readonly data: unknown }
