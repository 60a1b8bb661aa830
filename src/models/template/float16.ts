/** Numbers of half precision, little-endian, as templates' models are kept in files. */
export function decodeFloat16(bytes: Uint8Array): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Float32Array.from({ length: bytes.length / 2 }, (_, at) => view.getFloat16(2 * at, true))
}

export function encodeFloat16(values: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * values.length))
  values.forEach((value, at) => view.setFloat16(2 * at, value, true))
  return new Uint8Array(view.buffer)
}
