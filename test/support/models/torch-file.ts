import type { WeightTensor } from '../../../src/models/convert/weights.ts'

/** Encodes weights in the format of PyTorch before version 1.6: several pickles, then the numbers. */
export function legacyTorchFile(dict: ReadonlyMap<string, WeightTensor>): Uint8Array {
  const tensors = [...dict]
  const magic = Buffer.from('6cfc9c46f9206aa85019', 'hex')
  const machine = '}' + pickleText('little_endian') + '\x88s'
  return Buffer.concat([
    pickle(`\x8a\x0a${magic.toString('latin1')}`),
    pickle(`M${u16(1001)}`),
    pickle(machine),
    pickle(pickleDict(tensors, 'legacy')),
    pickle(`](${tensors.map((_, key) => pickleText(String(key))).join('')}e`),
    ...tensors.flatMap(([, { data }]) => [i64(data.length), bytesOf(data)]),
  ])
}

/** Encodes weights in the format of PyTorch since version 1.6: a zip archive. */
export function zipTorchFile(dict: ReadonlyMap<string, WeightTensor>): Uint8Array {
  const tensors = [...dict]
  return zipFile([
    ['weights/data.pkl', pickle(pickleDict(tensors, 'zip'))],
    ['weights/byteorder', Buffer.from('little')],
    ...tensors.map(([, { data }], key) => [`weights/data/${key}`, bytesOf(data)] as const),
  ])
}

/** Creates a zip archive of uncompressed entries; `method` 8 declares them as compressed. */
export function zipFile(
  entries: readonly (readonly [name: string, bytes: Buffer])[],
  method = 0,
): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [name, bytes] of entries) {
    const common = [u16(20), u16(0), u16(method), '\0'.repeat(8), u32(bytes.length)]
    const sizes = [u32(bytes.length), u16(name.length), u16(0)]
    const local = Buffer.from(['PK\x03\x04', ...common, ...sizes, name].join(''), 'latin1')
    const trailer = [u16(0), u16(0), u16(0), u32(0), u32(offset), name]
    central.push(
      Buffer.from(['PK\x01\x02', u16(20), ...common, ...sizes, ...trailer].join(''), 'latin1'),
    )
    locals.push(local, bytes)
    offset += local.length + bytes.length
  }
  const list = Buffer.concat(central)
  const count = u16(entries.length)
  const end = ['PK\x05\x06', u16(0), u16(0), count, count, u32(list.length), u32(offset), u16(0)]
  return Buffer.concat([...locals, list, Buffer.from(end.join(''), 'latin1')])
}

/** Creates a pickle of protocol 2 from its operations; every character is one byte. */
export function pickle(operations: string): Buffer {
  return Buffer.from(`\x80\x02${operations}.`, 'latin1')
}

/** The operation that pushes a string. */
export function pickleText(value: string): string {
  return `X${u32(value.length)}${value}`
}

function pickleDict(
  tensors: readonly (readonly [string, WeightTensor])[],
  format: 'legacy' | 'zip',
): string {
  const items = tensors.map(
    ([name, tensor], key) => pickleText(name) + torchTensor(tensor, key, format),
  )
  return `ccollections\nOrderedDict\n)R(${items.join('')}u`
}

/** The operations that push a tensor whose values are the storage with this key. */
export function torchTensor(
  { shape, data }: WeightTensor,
  key: number,
  format: 'legacy' | 'zip' = 'zip',
): string {
  const view = format === 'legacy' ? 'N' : ''
  const storage = `(${pickleText('storage')}ctorch\nFloatStorage\n${pickleText(String(key))}${pickleText('cpu')}`
  const reference = `${storage}${pickleInteger(data.length)}${view}tQ`
  const strides = shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1))
  const tuple = (values: readonly number[]): string => `(${values.map(pickleInteger).join('')}t`
  const hooks = 'ccollections\nOrderedDict\n)R'
  // A stride that 32 bits cannot encode is irrelevant: the shape is rejected first.
  const args = `(${reference}K\0${tuple(shape)}${tuple(strides.map((stride) => stride % 2 ** 31))}\x89${hooks}t`
  return `ctorch._utils\n_rebuild_tensor_v2\n${args}R`
}

const pickleInteger = (value: number): string => `J${u32(value)}`

function u16(value: number): string {
  return String.fromCharCode(value & 255, value >> 8)
}

function u32(value: number): string {
  return u16(value & 65_535) + u16(value >>> 16)
}

function i64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(BigInt(value))
  return bytes
}

function bytesOf(data: Float32Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength)
}
