import { sizeOf } from '../onnx/layout.ts'
import type { WeightTensor } from '../weights.ts'
import { isKind, type PickledValue, type PickledTuple } from './pickled-value.ts'
import { storageOf } from './storage.ts'

/** Returns the bytes of the storage with this key; undefined when the file has none. */
export type StorageBytesOf = (key: string) => Uint8Array | undefined

/** The content of a PyTorch file: a pickled value and the storages that it refers to. */
export type TorchContent = { readonly value: PickledValue; readonly bytesOf: StorageBytesOf }

/** Returns the tensor that a pickled call describes; undefined when `value` is not such a call. */
export function tensorOf(value: PickledValue, bytesOf: StorageBytesOf): WeightTensor | undefined {
  if (!isKind(value, 'call')) return undefined
  const [first = null] = value.args.items
  if (value.callee.name === 'torch._utils._rebuild_parameter') return tensorOf(first, bytesOf)
  if (value.callee.name !== 'torch._utils._rebuild_tensor_v2') return undefined
  return rebuild(value.args, bytesOf)
}

/** The arguments are `(storage, offset, shape, strides, …)`. Tensors can share a storage. */
function rebuild({ items }: PickledTuple, bytesOf: StorageBytesOf): WeightTensor {
  const [reference, offset, size, stride] = items
  if (!isKind(reference, 'reference')) throw new Error('a tensor has no storage')
  const { key, type, length } = storageOf(reference)
  const shape = nonNegativeIntegers(size)
  const strides = nonNegativeIntegers(stride)
  const [start = 0] = nonNegativeIntegers({ kind: 'tuple', items: [offset ?? null] })
  const count = sizeOf(shape)
  const lastIndex = shape.reduce(
    (sum, side, axis) => sum + (side - 1) * (strides[axis] ?? 0),
    start,
  )
  if (shape.length !== strides.length || count > length || (count > 0 && lastIndex >= length))
    throw new Error(
      `a tensor of ${shape.join('×')} does not fit the storage ${key} of ${length} values`,
    )
  const bytes = bytesOf(key)
  if (bytes?.length !== length * type.bytes)
    throw new Error(`the storage ${key} has ${bytes?.length ?? 'no'} bytes`)
  // The loops below would also run for the other axes of a tensor without values.
  if (count === 0) return { shape, data: new Float32Array() }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const data = new Float32Array(count)
  let written = 0
  const copy = (axis: number, index: number): void => {
    const side = shape[axis]
    if (side === undefined) data[written++] = type.read(view, index * type.bytes)
    else for (let i = 0; i < side; i++) copy(axis + 1, index + i * (strides[axis] ?? 0))
  }
  copy(0, start)
  return { shape, data }
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
