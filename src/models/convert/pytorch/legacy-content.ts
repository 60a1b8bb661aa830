import { readPickle } from './read-pickle.ts'
import { isKind } from './pickled-value.ts'
import type { TorchContent } from './state-dict.ts'
import { storageOf } from './storage.ts'

/** `torch.serialization.MAGIC_NUMBER` and `PROTOCOL_VERSION`. */
const magicNumber = 0x1950a86a20f9469cfc6cn
const protocolVersion = 1001

/**
 * The content of a file of torch before version 1.6: the pickles of a magic number, a version, the
 * machine that wrote it, the value and the keys of its storages; then, in the order of the keys, the
 * length of each storage (64 bits) and its numbers.
 *
 * @throws Error that says what it is not.
 */
export function readLegacyContent(bytes: Uint8Array): TorchContent {
  const magic = readPickle(bytes)
  if (magic.value !== magicNumber) throw new Error('it does not begin as a file of torch')
  const version = readPickle(bytes, magic.end)
  if (version.value !== protocolVersion) throw new Error(`it is not of version ${protocolVersion}`)
  const machine = readPickle(bytes, version.end)
  if (!(machine.value instanceof Map) || machine.value.get('little_endian') !== true)
    throw new Error('it was not written on a little-endian machine')
  const { value, references, end } = readPickle(bytes, machine.end)
  const keys = readPickle(bytes, end)
  if (!isKind(keys.value, 'list')) throw new Error('it has no list of storages')

  const known = new Map(references.map(storageOf).map((storage) => [storage.key, storage]))
  const storages = new Map<string, Uint8Array>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = keys.end
  for (const key of keys.value.items) {
    const storage = typeof key === 'string' ? known.get(key) : undefined
    if (!storage) throw new Error('nothing refers to one of its storages')
    const from = at + 8
    const to = from + storage.length * storage.type.bytes
    if (to > bytes.length) throw new Error(`it ends within the storage ${storage.key}`)
    if (view.getBigInt64(at, true) !== BigInt(storage.length))
      throw new Error(`the storage ${storage.key} has another length than its tensors`)
    storages.set(storage.key, bytes.subarray(from, to))
    at = to
  }
  return { value, bytesOf: (key) => storages.get(key) }
}
