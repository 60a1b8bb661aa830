import type { WeightTensor } from '../weights.ts'
import { type PickledValue, isKind, readPickle } from './read-pickle.ts'
import { isZip, readZipContent } from './read-zip.ts'
import { tensorOf, type StorageBytesOf, storageOf, type TorchContent } from './torch-tensor.ts'

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

/** `torch.serialization.MAGIC_NUMBER` and `PROTOCOL_VERSION`. */
const magicNumber = 0x1950a86a20f9469cfc6cn
const protocolVersion = 1001

/**
 * Reads a file of PyTorch before version 1.6. It consists of five pickles (a magic number, a version,
 * the properties of the machine, the value, the storage keys) and then, in the order of the keys, the
 * length (64 bits) and the numbers of each storage.
 *
 * @throws Error that states the first deviation from this format.
 */
function readLegacyContent(bytes: Uint8Array): TorchContent {
  const magic = readPickle(bytes)
  if (magic.value !== magicNumber)
    throw new Error('it does not start with the magic number of PyTorch')
  const version = readPickle(bytes, magic.end)
  if (version.value !== protocolVersion)
    throw new Error(`its format version is not ${protocolVersion}`)
  const machine = readPickle(bytes, version.end)
  if (!(machine.value instanceof Map) || machine.value.get('little_endian') !== true)
    throw new Error('it was not written on a little-endian machine')
  const content = readPickle(bytes, machine.end)
  const keys = readPickle(bytes, content.end)
  if (!isKind(keys.value, 'list')) throw new Error('it has no list of storages')

  const referenced = new Map(
    content.references.map(storageOf).map((storage) => [storage.key, storage]),
  )
  const storages = new Map<string, Uint8Array>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = keys.end
  for (const key of keys.value.items) {
    const storage = typeof key === 'string' ? referenced.get(key) : undefined
    if (!storage) throw new Error('it has a storage without a reference')
    const start = offset + 8
    const end = start + storage.length * storage.type.bytes
    if (end > bytes.length) throw new Error(`it ends within the storage ${storage.key}`)
    if (view.getBigInt64(offset, true) !== BigInt(storage.length))
      throw new Error(`the storage ${storage.key} has another length than its reference`)
    storages.set(storage.key, bytes.subarray(start, end))
    offset = end
  }
  return { value: content.value, bytesOf: (key) => storages.get(key) }
}
