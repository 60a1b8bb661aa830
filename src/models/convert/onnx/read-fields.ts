/** One field of a message in the protocol buffer wire format. */
export type ProtobufField = {
  readonly number: number
  /** A number of the wire, or the bytes of what has a length. */
  readonly value: number | Uint8Array
  /** The field as it stands in the message, its key included. */
  readonly bytes: Uint8Array
}

/** The fields of a message in their order. @throws Error when it is not such a message. */
export function readFields(message: Uint8Array): ProtobufField[] {
  const fields: ProtobufField[] = []
  for (let at = 0; at < message.length;) {
    const [key, start] = readVarint(message, at)
    const wire = key % 8
    const [first, after] = wire === 0 || wire === 2 ? readVarint(message, start) : [0, start]
    const length = wire === 2 ? first : { 0: 0, 1: 8, 5: 4 }[wire]
    const end = after + (length ?? Number.NaN)
    if (!(end <= message.length)) throw new Error('not a message of protocol buffers')
    fields.push({
      number: Math.floor(key / 8),
      value: wire === 0 ? first : message.subarray(after, end),
      bytes: message.subarray(at, end),
    })
    at = end
  }
  return fields
}

/** The bytes of every field with this number. */
export function bytesIn(fields: readonly ProtobufField[], number: number): Uint8Array[] {
  return fields.flatMap((field) =>
    field.number === number && typeof field.value !== 'number' ? [field.value] : [],
  )
}

/** The texts of every field with this number. */
export function stringsIn(fields: readonly ProtobufField[], number: number): string[] {
  return bytesIn(fields, number).map((bytes) => new TextDecoder().decode(bytes))
}

/** The whole numbers of a repeated field, packed or not. */
export function integersIn(fields: readonly ProtobufField[], number: number): number[] {
  return fields.flatMap((field) => {
    if (field.number !== number) return []
    if (typeof field.value === 'number') return [field.value]
    const packed: number[] = []
    for (let at = 0; at < field.value.length;) {
      const [one, next] = readVarint(field.value, at)
      packed.push(one)
      at = next
    }
    return packed
  })
}

function readVarint(bytes: Uint8Array, from: number): [value: number, next: number] {
  let value = 0
  let factor = 1
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    value += (byte & 0x7f) * factor
    if (byte < 0x80) return [value, at + 1]
    factor *= 128
  }
  throw new Error('not a message of protocol buffers')
}
