/** Decodes half-precision numbers, little-endian: the format of the template model files. */
export function decodeFloat16(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float32Array.from({ length: bytes.length / 2 }, (_, index) =>
    view.getFloat16(2 * index, true),
  )
}

export function encodeFloat16(values: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * values.length))
  values.forEach((value, index) => view.setFloat16(2 * index, value, true))
  return new Uint8Array(view.buffer)
}
