import type { WeightTensor } from '../weights.ts'
import { readLegacyContent } from './legacy-content.ts'
import type { PickledValue } from './pickled-value.ts'
import { tensorOf, type StorageBytesOf } from './tensor.ts'
import { isZip } from './read-zip.ts'
import { readZipContent } from './zip-content.ts'

/** The weights of a network by their names, in PyTorch's layout (`[out, in, height, width]`). */
export type StateDict = ReadonlyMap<string, WeightTensor>

/** What a file of torch holds: a pickled value and the storages that it refers to. */
export type TorchContent = { readonly value: PickledValue; readonly bytesOf: StorageBytesOf }

/**
 * Reads a file that `torch.save(network.state_dict(), …)` wrote, in the format before version 1.6 or
 * in the present one. It is read as data: nothing in it is run, and what is more than weights is
 * refused. The prefix `module.` of networks that were trained in parallel is taken off.
 *
 * @throws Error that names `place` and what is wrong with the file.
 */
export function readStateDict(bytes: Uint8Array, place: string): StateDict {
  try {
    const { value, bytesOf } = isZip(bytes) ? readZipContent(bytes) : readLegacyContent(bytes)
    return weightsOf(value, bytesOf)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${place} is not a file of PyTorch weights: ${reason}`, { cause })
  }
}

function weightsOf(value: PickledValue, bytesOf: StorageBytesOf): StateDict {
  const dict = value instanceof Map ? (value.get('state_dict') ?? value) : value
  if (!(dict instanceof Map)) throw new Error('it holds no dict of weights')
  const weights = new Map<string, WeightTensor>()
  for (const [name, entry] of dict) {
    const tensor = tensorOf(entry, bytesOf)
    if (!tensor || typeof name !== 'string') throw new Error(`${String(name)} is no tensor`)
    weights.set(name.replace(/^module\./u, ''), tensor)
  }
  return weights
}
