import { sizeOf } from '../onnx/layout.ts'
import type { StoredType, WeightTensor } from '../weights.ts'
import {
  isKind,
  type PickledValue,
  type PickledTuple,
  type PickledReference,
} from './read-pickle.ts'

/** Returns the bytes of the storage with this key; undefined when the file has none. */
export type StorageBytesOf = (key: string) => Uint8Array | undefined

/** The content of a PyTorch file: a pickled value and the storages that it refers to. */
export type TorchContent = { readonly value: PickledValue; readonly bytesOf: StorageBytesOf }

/**
 * Returns the tensor that a pickled call describes; undefined when `value` is not such a call.
 *
 * @param valuesLeft the most values that the tensor can have.
 * @throws Error, before it allocates memory, when the shape does not fit its storage or that limit.
 */
export function tensorOf(
  value: PickledValue,
  bytesOf: StorageBytesOf,
  valuesLeft: number,
): WeightTensor | undefined {
  if (!isKind(value, 'call')) return undefined
  const [first = null] = value.args.items
  if (value.callee.name === 'torch._utils._rebuild_parameter')
    return tensorOf(first, bytesOf, valuesLeft)
  if (value.callee.name !== 'torch._utils._rebuild_tensor_v2') return undefined
  return rebuild(value.args, bytesOf, valuesLeft)
}

/** The arguments are `(storage, offset, shape, strides, …)`. Tensors can share a storage. */
function rebuild({ items }: PickledTuple, bytesOf: StorageBytesOf, valuesLeft: number) {
  const [reference, offset, size, stride] = items
  if (!isKind(reference, 'reference')) throw new Error('a tensor has no storage')
  const storage = storageOf(reference)
  const [start = 0] = nonNegativeIntegers({ kind: 'tuple', items: [offset ?? null] })
  const view = { start, shape: nonNegativeIntegers(size), strides: nonNegativeIntegers(stride) }
  requireFit(view, storage)
  if (sizeOf(view.shape) > valuesLeft)
    throw new Error('its tensors have more values in total than it has bytes')
  const bytes = bytesOf(storage.key)
  if (bytes?.length !== storage.length * storage.type.bytes)
    throw new Error(`the storage ${storage.key} has ${bytes?.length ?? 'no'} bytes`)
  return { shape: view.shape, data: readView(view, bytes, storage.type) }
}

/** The values of a storage that belong to a tensor. */
type StorageView = {
  readonly start: number
  readonly shape: readonly number[]
  readonly strides: readonly number[]
}

type TorchStorage = ReturnType<typeof storageOf>

/** @throws Error when a side is too long, or the storage does not contain all values of the view. */
function requireFit({ start, shape, strides }: StorageView, { key, length }: TorchStorage): void {
  if (shape.some((side) => side > valuesMax))
    throw new Error(`a tensor has the shape ${shape.join('×')}; a side is at most ${valuesMax}`)
  const count = sizeOf(shape)
  const lastIndex = shape.reduce(
    (sum, side, axis) => sum + (side - 1) * (strides[axis] ?? 0),
    start,
  )
  if (shape.length !== strides.length || count > length || (count > 0 && lastIndex >= length))
    throw new Error(
      `a tensor of ${shape.join('×')} does not fit the storage ${key} of ${length} values`,
    )
}

function readView({ start, shape, strides }: StorageView, bytes: Uint8Array, type: StoredType) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const data = new Float32Array(sizeOf(shape))
  let written = 0
  const copy = (axis: number, index: number): void => {
    const side = shape[axis]
    if (side === undefined) data[written++] = type.read(view, index * type.bytes)
    else for (let i = 0; i < side; i++) copy(axis + 1, index + i * (strides[axis] ?? 0))
  }
  // A shape without values can still have very many rows.
  if (data.length > 0) copy(0, start)
  return data
}

const axesMax = 8

function nonNegativeIntegers(value: PickledValue | undefined): readonly number[] {
  const items = isKind(value, 'tuple') ? value.items : []
  const numbers = items.filter((item) => typeof item === 'number')
  const areValid = numbers.every((number) => Number.isSafeInteger(number) && number >= 0)
  if (
    !isKind(value, 'tuple') ||
    numbers.length < items.length ||
    !areValid ||
    items.length > axesMax
  )
    throw new Error('a tensor has an invalid shape')
  return numbers
}

const storageTypes: Readonly<Record<string, StoredType>> = {
  'torch.FloatStorage': { bytes: 4, read: (view, offset) => view.getFloat32(offset, true) },
  'torch.HalfStorage': { bytes: 2, read: (view, offset) => view.getFloat16(offset, true) },
  'torch.LongStorage': { bytes: 8, read: (view, offset) => Number(view.getBigInt64(offset, true)) },
}

/** The most values of a storage, and on one side of a tensor: 1 GiB of single-precision numbers. */
const valuesMax = 2 ** 28

/**
 * Decodes a reference of the pickle: `('storage', type, key, device, length)`, in old files with a
 * `None` at the end. A storage is an array of `length` numbers that contains tensors. PyTorch stores it
 * outside of the pickle.
 */
export function storageOf({ id }: PickledReference) {
  if (!isKind(id, 'tuple')) throw new Error('a reference is not to a storage')
  const [tag, type, key, , length, view = null] = id.items
  const storageType = isKind(type, 'global') ? storageTypes[type.name] : undefined
  if (tag !== 'storage' || typeof key !== 'string' || view !== null)
    throw new Error('a reference is not to a complete storage')
  if (!storageType) throw new Error(`the storage ${key} has a type other than float, half and long`)
  if (typeof length !== 'number' || !Number.isSafeInteger(length))
    throw new Error(`the storage ${key} has an invalid length`)
  if (length < 0 || length > valuesMax)
    throw new Error(`the storage ${key} has ${length} values, not 0 to ${valuesMax}`)
  return { key, type: storageType, length }
}
