/** Decodes half-precision numbers, little-endian: the format of the template model files. */
export function decodeFloat16(bytes: Uint8Array): Float32Array {
  // A table of all values is four times as fast as a conversion per number.
  table ??= createTable()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const values = new Float32Array(bytes.length / 2)
  for (let index = 0; index < values.length; index++)
    values[index] = table[view.getUint16(2 * index, true)] ?? 0
  return values
}

let table: Float32Array | undefined

/** Returns the value of each of the 65,536 half-precision numbers, by its bits. */
function createTable(): Float32Array {
  const view = new DataView(new ArrayBuffer(2))
  return Float32Array.from({ length: 65_536 }, (_, bits) => {
    view.setUint16(0, bits)
    return view.getFloat16(0)
  })
}

export function encodeFloat16(values: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * values.length))
  values.forEach((value, index) => view.setFloat16(2 * index, value, true))
  return new Uint8Array(view.buffer)
}
