import type { Weights } from '../weights.ts'
import { legacyContent } from './legacy.ts'
import type { Pickled } from './pickled.ts'
import { tensorOf, type StorageBytes } from './tensor.ts'
import { isZip } from './zip.ts'
import { zipContent } from './zip-content.ts'

/** The weights of a network by their names, in PyTorch's layout (`[out, in, height, width]`). */
export type StateDict = ReadonlyMap<string, Weights>

/** What a file of torch holds: a pickled value and the storages that it refers to. */
export type TorchContent = { readonly value: Pickled; readonly bytesOf: StorageBytes }

/**
 * Reads a file that `torch.save(network.state_dict(), …)` wrote, in the format before version 1.6 or
 * in the present one. It is read as data: nothing in it is run, and what is more than weights is
 * refused. The prefix `module.` of networks that were trained in parallel is taken off.
 *
 * @throws Error that names `place` and what is wrong with the file.
 */
export function readStateDict(bytes: Uint8Array, place: string): StateDict {
  try {
    const { value, bytesOf } = isZip(bytes) ? zipContent(bytes) : legacyContent(bytes)
    return weightsOf(value, bytesOf)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${place} is not a file of PyTorch weights: ${reason}`, { cause })
  }
}

function weightsOf(value: Pickled, bytesOf: StorageBytes): StateDict {
  const dict = value instanceof Map ? (value.get('state_dict') ?? value) : value
  if (!(dict instanceof Map)) throw new Error('it holds no dict of weights')
  const weights = new Map<string, Weights>()
  for (const [name, entry] of dict) {
    const tensor = tensorOf(entry, bytesOf)
    if (!tensor || typeof name !== 'string') throw new Error(`${String(name)} is no tensor`)
    weights.set(name.replace(/^module\./u, ''), tensor)
  }
  return weights
}
