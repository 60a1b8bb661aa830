import { float16FromBits } from '../half.ts'
import { isKind, type PickledReference } from './pickled-value.ts'

/** A row of numbers of one type that tensors are cut from; torch keeps it outside of the pickle. */
export type TorchStorage = {
  readonly key: string
  readonly type: StorageType
  /** How many numbers. */
  readonly length: number
}

/** How a storage's numbers lie in the file, little-endian. */
export type StorageType = {
  readonly bytes: number
  readonly read: (view: DataView, offset: number) => number
}

const storageTypes: Readonly<Record<string, StorageType>> = {
  'torch.FloatStorage': { bytes: 4, read: (view, offset) => view.getFloat32(offset, true) },
  'torch.HalfStorage': {
    bytes: 2,
    read: (view, offset) => float16FromBits(view.getUint16(offset, true)),
  },
  'torch.LongStorage': { bytes: 8, read: (view, offset) => Number(view.getBigInt64(offset, true)) },
}

/** 1 GiB of single-precision numbers. */
const lengthMax = 2 ** 28

/**
 * What a reference of the pickle says: `('storage', type, key, device, length)`, in old files with a
 * last `None`.
 */
export function storageOf({ id }: PickledReference): TorchStorage {
  if (!isKind(id, 'tuple')) throw new Error('a reference to something other than a storage')
  const [what, type, key, , length, part = null] = id.items
  const known = isKind(type, 'global') ? storageTypes[type.name] : undefined
  if (what !== 'storage' || typeof key !== 'string' || part !== null)
    throw new Error('a reference to something other than a whole storage')
  if (!known) throw new Error(`the storage ${key} is of a type other than float, half and long`)
  if (typeof length !== 'number' || length < 0 || length > lengthMax)
    throw new Error(`the storage ${key} has no possible length`)
  return { key, type: known, length }
}
