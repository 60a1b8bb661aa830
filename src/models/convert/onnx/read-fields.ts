/** One field of a message in the protocol buffer wire format. */
export type ProtobufField = {
  readonly number: number
  /** A number, or the bytes of a field with a length. */
  readonly value: number | Uint8Array
  /** The encoded field, including its key. */
  readonly bytes: Uint8Array
}

/** Returns the fields of a message in order. @throws Error when the bytes are not a message. */
export function readFields(message: Uint8Array): ProtobufField[] {
  const fields: ProtobufField[] = []
  for (let offset = 0; offset < message.length;) {
    const [key, keyEnd] = readVarint(message, offset)
    const wireType = key % 8
    const [number, start] =
      wireType === 0 || wireType === 2 ? readVarint(message, keyEnd) : [0, keyEnd]
    const length = wireType === 2 ? number : { 0: 0, 1: 8, 5: 4 }[wireType]
    const end = start + (length ?? Number.NaN)
    if (!(end <= message.length)) throw new Error('not a protocol buffers message')
    fields.push({
      number: Math.floor(key / 8),
      value: wireType === 0 ? number : message.subarray(start, end),
      bytes: message.subarray(offset, end),
    })
    offset = end
  }
  return fields
}

/** Returns the bytes of every field with this number. */
export function bytesIn(fields: readonly ProtobufField[], number: number): Uint8Array[] {
  return fields.flatMap((field) =>
    field.number === number && typeof field.value !== 'number' ? [field.value] : [],
  )
}

/** Returns the text of every field with this number. */
export function stringsIn(fields: readonly ProtobufField[], number: number): string[] {
  return bytesIn(fields, number).map((bytes) => new TextDecoder().decode(bytes))
}

/** Returns the integers of a repeated field, packed or not. */
export function integersIn(fields: readonly ProtobufField[], number: number): number[] {
  return fields.flatMap((field) => {
    if (field.number !== number) return []
    if (typeof field.value === 'number') return [field.value]
    const packed: number[] = []
    for (let offset = 0; offset < field.value.length;) {
      const [integer, next] = readVarint(field.value, offset)
      packed.push(integer)
      offset = next
    }
    return packed
  })
}

function readVarint(bytes: Uint8Array, start: number): [value: number, next: number] {
  let value = 0
  let factor = 1
  for (let offset = start; offset < bytes.length; offset++) {
    const byte = bytes[offset] ?? 0
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return [value, offset + 1]
    factor *= 128
  }
  throw new Error('not a protocol buffers message')
}
