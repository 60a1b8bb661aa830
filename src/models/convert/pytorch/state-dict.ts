import type { WeightTensor } from '../weights.ts'
import { readLegacyContent } from './legacy-content.ts'
import type { PickledValue } from './pickled-value.ts'
import { isZip, readZipContent } from './read-zip.ts'
import { tensorOf, type StorageBytesOf } from './torch-tensor.ts'

/** The weights of a network by their names, in PyTorch's layout (`[out, in, height, width]`). */
export type StateDict = ReadonlyMap<string, WeightTensor>

/**
 * Reads a file of `torch.save(network.state_dict(), …)`, in the format before version 1.6 or in the
 * current one. The file is read as data: nothing in it is executed, and everything except weights is
 * rejected. The prefix `module.` of networks that were trained in parallel is removed.
 *
 * @param fileName the name of the file, for error messages.
 * @throws Error that names the file and the problem.
 */
export function readStateDict(bytes: Uint8Array, fileName: string): StateDict {
  try {
    const { value, bytesOf } = isZip(bytes) ? readZipContent(bytes) : readLegacyContent(bytes)
    return weightsOf(value, bytesOf, bytes.length)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${fileName} is not a file of PyTorch weights: ${reason}`, { cause })
  }
}

/**
 * Tensors can share a storage, so a small file could describe more values than fit in memory. A value
 * takes at least two bytes, so a file in which tensors share little has fewer values than bytes.
 */
function weightsOf(
  value: PickledValue,
  bytesOf: StorageBytesOf,
  valuesMaxInTotal: number,
): StateDict {
  const dict = value instanceof Map ? (value.get('state_dict') ?? value) : value
  if (!(dict instanceof Map)) throw new Error('it contains no dict of weights')
  const weights = new Map<string, WeightTensor>()
  let valuesLeft = valuesMaxInTotal
  for (const [name, entry] of dict) {
    const tensor = tensorOf(entry, bytesOf, valuesLeft)
    if (!tensor || typeof name !== 'string') throw new Error(`${String(name)} is not a tensor`)
    valuesLeft -= tensor.data.length
    weights.set(name.replace(/^module\./u, ''), tensor)
  }
  return weights
}
