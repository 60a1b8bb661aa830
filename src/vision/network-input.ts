import type { InferenceSession } from 'onnxruntime-node'

import type { ModelInput } from '../models/builtin/builtin-model.ts'

/** The input of a network: float32 tensors of `(pixel − mean[channel]) × scale`. */
export type NetworkInput = Omit<ModelInput, 'name'>

/** The input as a manifest declares it. With `name: null`, the graph must have only one input. */
export type DeclaredInput = NetworkInput & { readonly name: string | null }

type GraphInput = InferenceSession.ValueMetadata

export type MatchedInput = {
  readonly name: string
  /** Whether the network accepts only one image per run. */
  readonly isSingleImage: boolean
  /** Whether the network accepts images of any size. */
  readonly isAnySize: boolean
}

/**
 * Returns the input of the graph that takes the images.
 *
 * @throws Error naming the file if there is no such input, or if its shape is not the declared one.
 */
export function matchInput(
  filePath: string,
  graphInputs: readonly GraphInput[],
  declared: DeclaredInput,
): MatchedInput {
  const names = graphInputs.map(({ name }) => `"${name}"`).join(', ')
  const input = graphInputs.find(({ name }) => declared.name === null || name === declared.name)
  if (!input) throw new Error(`${filePath}: no input "${declared.name}" among ${names}`)
  if (declared.name === null && graphInputs.length > 1)
    throw new Error(`${filePath}: the manifest must name one of the inputs ${names}`)
  if (!input.isTensor || input.type !== 'float32')
    throw new Error(`${filePath}: the input "${input.name}" must be a tensor of float32`)
  const expected = ['N', channelCount(declared), declared.height, declared.width]
  const [batch, , ...sides] = input.shape
  const isMatch =
    input.shape.length === expected.length &&
    (!isFixedSize(batch) || batch === 1) &&
    input.shape.every(
      (size, index) => index === 0 || !isFixedSize(size) || size === expected[index],
    )
  if (!isMatch)
    throw new Error(
      `${filePath}: the input "${input.name}" has the shape ` +
        `${input.shape.map(formatSize).join('×')}, the manifest declares ${expected.join('×')}`,
    )
  const isAnySize = !sides.some(isFixedSize)
  return { name: input.name, isSingleImage: isFixedSize(batch), isAnySize }
}

/** In the metadata, a dimension of variable size has a name, or no value, instead of a number. */
function isFixedSize(size: number | string | undefined): size is number {
  return typeof size === 'number' && size > 0
}

function formatSize(size: number | string): string {
  return isFixedSize(size) ? String(size) : 'any'
}

export function channelCount({ colourOrder }: NetworkInput): number {
  return colourOrder === 'grey' ? 1 : 3
}
