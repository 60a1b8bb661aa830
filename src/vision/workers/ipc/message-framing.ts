import type { Writable } from 'node:stream'

/** A message is the length of its payload (unsigned, 32 bits, big-endian), then the payload. */
const headerBytes = 4

/** Writes one message. The payload is not copied. */
export function writeMessage(stream: Writable, payload: Uint8Array): void {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(payload.length)
  stream.cork()
  stream.write(header)
  stream.write(payload)
  stream.uncork()
}

/**
 * Yields the payloads of the messages on `stream` until it ends.
 *
 * Node's built-in IPC channel is not used: it throws inside the event loop of the reader if the bytes
 * are not a valid message, so one faulty worker could crash the server.
 *
 * @throws RangeError if a message announces more than `payloadBytesMax`.
 */
export async function* readMessages(
  stream: AsyncIterable<Buffer>,
  payloadBytesMax: number,
): AsyncGenerator<Buffer> {
  const splitMessages = createMessageSplitter(payloadBytesMax)
  for await (const chunk of stream) yield* splitMessages(chunk)
}

/**
 * Returns a function that expects the chunks of a stream and yields the payloads that are complete
 * with each of them. A payload is copied only if it is in several chunks, and then once.
 *
 * @throws RangeError as `readMessages`.
 */
export function createMessageSplitter(
  payloadBytesMax: number,
): (chunk: Buffer) => Generator<Buffer, void> {
  let buffered: Buffer[] = []
  let bufferedBytes = 0
  let neededBytes = headerBytes
  let isHeaderNext = true
  return function* splitMessages(chunk) {
    buffered.push(chunk)
    bufferedBytes += chunk.length
    while (bufferedBytes >= neededBytes) {
      const [first = chunk] = buffered
      const joined = buffered.length > 1 ? Buffer.concat(buffered) : first
      const part = joined.subarray(0, neededBytes)
      bufferedBytes -= neededBytes
      buffered = bufferedBytes > 0 ? [joined.subarray(neededBytes)] : []
      const isHeader = isHeaderNext
      neededBytes = isHeader ? payloadBytes(part, payloadBytesMax) : headerBytes
      isHeaderNext = !isHeader
      if (!isHeader) yield part
    }
  }
}

function payloadBytes(header: Buffer, bytesMax: number): number {
  const bytes = header.readUInt32BE()
  if (bytes > bytesMax)
    throw new RangeError(`a message of ${bytes} bytes exceeds the limit of ${bytesMax} bytes`)
  return bytes
}
