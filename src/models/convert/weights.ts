import { z } from 'zod'
import { sizeOf } from './onnx/layout.ts'

/** A tensor of weights in TensorFlow's layout. Integers (shapes, axes) are small, so float32 is exact. */
export type WeightTensor = { readonly shape: readonly number[]; readonly data: Float32Array }

/** One group of a weight manifest of TensorFlow.js or face-api. It describes one file. */
export type WeightsGroup = z.infer<typeof weightsGroupSchema>

/** Validates a group of a manifest; further fields are ignored. */
export const weightsGroupSchema = z.object({
  weights: z.array(
    z.object({
      name: z.string(),
      shape: z.array(z.int().min(0)),
      /** The type of the weights after decoding. */
      dtype: z.string(),
      /** The stored format: half precision, or small integers decoded as `value × scale + min`. */
      quantization: z
        .object({
          dtype: z.string(),
          scale: z.number().optional(),
          min: z.number().optional(),
        })
        .optional(),
    }),
  ),
})

/** Reads every tensor of a weight file. @throws Error when the size of the file is wrong. */
export function readWeights(group: WeightsGroup, file: Uint8Array) {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const weights = new Map<string, WeightTensor>()
  let offset = 0
  for (const { name, shape, dtype, quantization } of group.weights) {
    const stored = storedTypes.get(quantization?.dtype ?? dtype)
    if (!stored) throw new Error(`${name} has weights of an unknown type`)
    if (!(offset + sizeOf(shape) * stored.bytes <= file.byteLength))
      throw new Error(`the weights ${name} end after the file of ${file.byteLength} bytes`)
    const { scale = 1, min = 0 } = quantization ?? {}
    const round = dtype === 'int32' ? Math.round : Number
    const data = Float32Array.from({ length: sizeOf(shape) }, (_, index) =>
      round(stored.read(view, offset + index * stored.bytes) * scale + min),
    )
    weights.set(name, { shape, data })
    offset += data.length * stored.bytes
  }
  if (offset !== file.byteLength)
    throw new Error(`the manifest describes ${offset} bytes of weights, not ${file.byteLength}`)
  return weights
}

/** The encoding of the values in a file, little-endian. */
export type StoredType = {
  readonly bytes: number
  readonly read: (view: DataView, offset: number) => number
}

/** The stored types of weights. */
const storedTypes: ReadonlyMap<string, StoredType> = new Map([
  ['float32', { bytes: 4, read: (view, offset) => view.getFloat32(offset, true) }],
  ['int32', { bytes: 4, read: (view, offset) => view.getInt32(offset, true) }],
  ['float16', { bytes: 2, read: (view, offset) => view.getFloat16(offset, true) }],
  ['uint16', { bytes: 2, read: (view, offset) => view.getUint16(offset, true) }],
  ['uint8', { bytes: 1, read: (view, offset) => view.getUint8(offset) }],
])
