import type { InferenceSession } from 'onnxruntime-node'

import type { ModelInput } from '../models/builtin/builtin-model.ts'

/** What a network takes: float32 tensors of `(pixel − mean[channel]) × scale`. */
export type NetworkInput = Omit<ModelInput, 'name' | 'layout'>

/** px */
export type ImageSize = { readonly width: number; readonly height: number }

/** The same as a manifest has it; without a name, the graph has no other input. */
export type DeclaredInput = NetworkInput & { readonly name: string | null }

type GraphInput = InferenceSession.ValueMetadata

export type MatchedInput = {
  readonly name: string
  /** Whether it takes only one picture at a time. */
  readonly isSingleImage: boolean
  /** Whether it takes pictures of any size. */
  readonly isAnySize: boolean
}

/**
 * Which input of the graph takes the pictures, and how.
 *
 * @throws Error naming the file when there is none, or one of another shape than declared.
 */
export function matchInput(
  place: string,
  found: readonly GraphInput[],
  declared: DeclaredInput,
): MatchedInput {
  const names = found.map(({ name }) => `"${name}"`).join(', ')
  const input = found.find(({ name }) => declared.name === null || name === declared.name)
  if (!input) throw new Error(`${place}: no input "${declared.name}" among ${names}`)
  if (declared.name === null && found.length > 1)
    throw new Error(`${place}: the manifest must name one of the inputs ${names}`)
  if (!input.isTensor || input.type !== 'float32')
    throw new Error(`${place}: the input "${input.name}" must be a tensor of float32`)
  const wanted = ['N', channelCount(declared), declared.height, declared.width]
  const [batch, , ...sides] = input.shape
  const isFit =
    input.shape.length === wanted.length &&
    (!isFixedSize(batch) || batch === 1) &&
    input.shape.every((side, at) => at === 0 || !isFixedSize(side) || side === wanted[at])
  if (!isFit)
    throw new Error(
      `${place}: the input "${input.name}" takes ${input.shape.map(formatSize).join('×')}, ` +
        `the manifest says ${wanted.join('×')}`,
    )
  const isAnySize = !sides.some(isFixedSize)
  return { name: input.name, isSingleImage: isFixedSize(batch), isAnySize }
}

/** A side that the graph leaves open has a name, or none, in place of a size. */
function isFixedSize(side: number | string | undefined): side is number {
  return typeof side === 'number' && side > 0
}

function formatSize(side: number | string): string {
  return isFixedSize(side) ? String(side) : 'any'
}

export function channelCount({ colourOrder }: NetworkInput): number {
  return colourOrder === 'grey' ? 1 : 3
}
