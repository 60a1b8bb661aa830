import type { Writable } from 'node:stream'

/** A frame is its payload's length (unsigned, 32 bits, big-endian) and then the payload. */
const headerBytes = 4

/** Writes one frame; the payload is not copied. */
export function writeMessage(stream: Writable, payload: Uint8Array): void {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(payload.length)
  stream.cork()
  stream.write(header)
  stream.write(payload)
  stream.uncork()
}

/**
 * The payloads of the frames that arrive on `stream`, until it ends.
 *
 * Node's own message channel would do all this, but it throws inside the event loop of the reader
 * when the bytes are not a message: one mad child would end the process that serves everybody.
 *
 * @throws when a frame announces more than `payloadBytesMax`.
 */
export async function* readMessages(
  stream: AsyncIterable<Buffer>,
  payloadBytesMax: number,
): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let heldBytes = 0
  let neededBytes = headerBytes
  let isHeaderNext = true
  for await (const chunk of stream) {
    held.push(chunk)
    heldBytes += chunk.length
    while (heldBytes >= neededBytes) {
      const joined = Buffer.concat(held)
      const part = joined.subarray(0, neededBytes)
      held = [joined.subarray(neededBytes)]
      heldBytes -= neededBytes
      if (!isHeaderNext) yield part
      neededBytes = isHeaderNext ? payloadBytes(part, payloadBytesMax) : headerBytes
      isHeaderNext = !isHeaderNext
    }
  }
}

function payloadBytes(header: Buffer, bytesMax: number): number {
  const bytes = header.readUInt32BE()
  if (bytes > bytesMax) throw new RangeError(`a frame of ${bytes} bytes, ${bytesMax} are allowed`)
  return bytes
}
