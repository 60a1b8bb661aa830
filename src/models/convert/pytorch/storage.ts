import type { StoredType } from '../weights.ts'
import { isKind, type PickledReference } from './pickled-value.ts'

/** An array of numbers that contains tensors. PyTorch stores it outside of the pickle. */
export type TorchStorage = {
  readonly key: string
  readonly type: StoredType
  /** The number of values. */
  readonly length: number
}

const storageTypes: Readonly<Record<string, StoredType>> = {
  'torch.FloatStorage': { bytes: 4, read: (view, offset) => view.getFloat32(offset, true) },
  'torch.HalfStorage': { bytes: 2, read: (view, offset) => view.getFloat16(offset, true) },
  'torch.LongStorage': { bytes: 8, read: (view, offset) => Number(view.getBigInt64(offset, true)) },
}

/** The most values of a storage, and on one side of a tensor: 1 GiB of single-precision numbers. */
export const valuesMax = 2 ** 28

/**
 * Decodes a reference of the pickle: `('storage', type, key, device, length)`, in old files with a
 * `None` at the end.
 */
export function storageOf({ id }: PickledReference): TorchStorage {
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
