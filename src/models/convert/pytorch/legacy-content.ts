import { readPickle } from './read-pickle.ts'
import { isKind } from './pickled-value.ts'
import { storageOf, type TorchContent } from './torch-tensor.ts'

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
export function readLegacyContent(bytes: Uint8Array): TorchContent {
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
