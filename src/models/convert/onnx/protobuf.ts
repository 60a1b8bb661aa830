/**
 * Writes the protocol buffer wire format, as much of it as ONNX needs.
 *
 * A message is the list of its pieces, joined once at the end: weights of tens of megabytes are
 * copied a single time, however deep they are nested.
 */
export type ProtobufMessage = readonly Uint8Array[]

const wireVarint = 0
const wireLengthDelimited = 2

/** A field of type int32, int64 or enum. */
export function integerField(field: number, value: number): ProtobufMessage {
  return [varint((field << 3) | wireVarint), varint(value)]
}

/** A field of type bytes. */
export function bytesField(field: number, bytes: Uint8Array): ProtobufMessage {
  return messageField(field, [bytes])
}

/** A field of type string. */
export function stringField(field: number, text: string): ProtobufMessage {
  return bytesField(field, new TextEncoder().encode(text))
}

/** A field that holds another message. */
export function messageField(field: number, message: ProtobufMessage): ProtobufMessage {
  const key = varint((field << 3) | wireLengthDelimited)
  return [key, varint(byteLength(message)), ...message]
}

/** The message in one piece. */
export function joinMessage(message: ProtobufMessage): Uint8Array {
  const bytes = new Uint8Array(byteLength(message))
  let offset = 0
  for (const piece of message) {
    bytes.set(piece, offset)
    offset += piece.length
  }
  return bytes
}

/**
 * A whole number in groups of seven bits, lowest first. A negative one is written as 64 bits of two's
 * complement, hence the big integers.
 */
function varint(value: number): Uint8Array {
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes: number[] = []
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}

function byteLength(message: ProtobufMessage): number {
  return message.reduce((sum, piece) => sum + piece.length, 0)
}
