import type { WeightTensor } from '../weights.ts'
import { type PickledValue, isKind, readPickle } from './read-pickle.ts'
import { type StorageBytesOf, type TorchContent, storageOf, tensorOf } from './torch-tensor.ts'

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
function weightsOf(value: PickledValue, bytesOf: StorageBytesOf, valuesMaxInTotal: number) {
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

/** Signatures of the records of a zip archive (APPNOTE.TXT of PKWARE, section 4.3). */
const localHeader = 0x04034b50
const centralHeader = 0x02014b50
const endHeader = 0x06054b50

const endBytes = 22
const commentBytesMax = 65_535
const entriesMax = 65_534

/** Whether the file starts with the signature of a zip archive. */
function isZip(bytes: Uint8Array): boolean {
  return bytes.length > endBytes && viewOf(bytes).getUint32(0, true) === localHeader
}

/**
 * Reads the entries of a zip archive: name → bytes (views into `bytes`). It supports only the features
 * that PyTorch uses: no compression, no encryption, less than 4 GiB.
 *
 * @throws Error that states what is damaged or not supported.
 */
function readZip(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const view = viewOf(bytes)
  const end = findEnd(view)
  const count = view.getUint16(end + 10, true)
  if (count > entriesMax) throw new Error('the archive has more than 4 GiB or 65,534 files')
  const entries = new Map<string, Uint8Array>()
  let offset = view.getUint32(end + 16, true)
  for (let index = 0; index < count; index++) {
    if (offset + 46 > end || view.getUint32(offset, true) !== centralHeader)
      throw new Error('the file list of the archive is damaged')
    const nameBytes = view.getUint16(offset + 28, true)
    const nameStart = offset + 46
    const name = Buffer.from(bytes.subarray(nameStart, nameStart + nameBytes)).toString()
    entries.set(name, readEntry(bytes, offset, name))
    const extraBytes = view.getUint16(offset + 30, true) + view.getUint16(offset + 32, true)
    offset += 46 + nameBytes + extraBytes
  }
  return entries
}

/** Returns the bytes of the entry whose central directory record is at `offset`. */
function readEntry(bytes: Uint8Array, offset: number, name: string): Uint8Array {
  const view = viewOf(bytes)
  const flags = view.getUint16(offset + 8, true)
  const method = view.getUint16(offset + 10, true)
  const size = view.getUint32(offset + 20, true)
  const header = view.getUint32(offset + 42, true)
  if ((flags & 1) !== 0 || method !== 0) throw new Error(`${name} is compressed or encrypted`)
  if (header + 30 > bytes.length || view.getUint32(header, true) !== localHeader)
    throw new Error(`${name} is not at its listed offset`)
  const start = header + 30 + view.getUint16(header + 26, true) + view.getUint16(header + 28, true)
  if (start + size > bytes.length) throw new Error(`it ends within ${name}`)
  return bytes.subarray(start, start + size)
}

/** Returns the offset of the end record, which a comment can follow. */
function findEnd(view: DataView): number {
  const last = view.byteLength - endBytes
  for (let offset = last; offset >= Math.max(0, last - commentBytesMax); offset--)
    if (view.getUint32(offset, true) === endHeader) return offset
  throw new Error('the archive has no end record')
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/**
 * Reads a file of PyTorch since version 1.6: a zip archive with one folder that contains the pickle
 * `data.pkl` and the storages `data/<key>`.
 */
function readZipContent(bytes: Uint8Array): TorchContent {
  const entries = readZip(bytes)
  const pickleName = [...entries.keys()].find((name) => /^[^/]+\/data\.pkl$/u.test(name))
  if (pickleName === undefined) throw new Error('it has no data.pkl')
  const folder = pickleName.slice(0, -'data.pkl'.length)
  const byteOrder = entries.get(`${folder}byteorder`)
  if (byteOrder && Buffer.from(byteOrder).toString() !== 'little')
    throw new Error('it was not written on a little-endian machine')
  const { value } = readPickle(entries.get(pickleName) ?? new Uint8Array())
  return { value, bytesOf: (key) => entries.get(`${folder}data/${key}`) }
}
