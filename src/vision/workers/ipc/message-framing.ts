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
  let buffered: Buffer[] = []
  let bufferedBytes = 0
  let neededBytes = headerBytes
  let isHeaderNext = true
  for await (const chunk of stream) {
    buffered.push(chunk)
    bufferedBytes += chunk.length
    while (bufferedBytes >= neededBytes) {
      const joined = Buffer.concat(buffered)
      const part = joined.subarray(0, neededBytes)
      buffered = [joined.subarray(neededBytes)]
      bufferedBytes -= neededBytes
      if (!isHeaderNext) yield part
      neededBytes = isHeaderNext ? payloadBytes(part, payloadBytesMax) : headerBytes
      isHeaderNext = !isHeaderNext
    }
  }
}

function payloadBytes(header: Buffer, bytesMax: number): number {
  const bytes = header.readUInt32BE()
  if (bytes > bytesMax)
    throw new RangeError(`a message of ${bytes} bytes exceeds the limit of ${bytesMax} bytes`)
  return bytes
}
