/**
 * A message in the protocol buffer wire format, with the features that ONNX needs.
 *
 * It is a list of chunks that are joined once at the end, so weights of tens of megabytes are copied
 * only once at every nesting depth.
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

/** Joins the chunks of a message. */
export function joinMessage(message: ProtobufMessage): Uint8Array {
  const bytes = new Uint8Array(byteLength(message))
  let offset = 0
  for (const chunk of message) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}

/**
 * Encodes an integer in groups of seven bits, lowest first. A negative integer is encoded as 64 bits
 * of two's complement, which needs BigInt.
 */
function varint(value: number): Uint8Array {
  if (!Number.isSafeInteger(value))
    throw new Error(`${value} is not an integer that can be encoded`)
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
  return message.reduce((sum, chunk) => sum + chunk.length, 0)
}
