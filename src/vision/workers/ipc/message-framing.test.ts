import assert from 'node:assert/strict'
import { PassThrough, Readable } from 'node:stream'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { readMessages, writeMessage } from './message-framing.ts'

/** The bytes of the frames of `payloads`. */
function frameMessages(payloads: readonly Uint8Array[]): Buffer {
  const stream = new PassThrough({ highWaterMark: 1_000_000 })
  for (const payload of payloads) writeMessage(stream, payload)
  stream.end()
  return Buffer.concat([stream.read() ?? Buffer.alloc(0)])
}

/** `bytes` cut into pieces of the given sizes, the rest as the last piece. */
function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let from = 0
  for (const size of sizes) {
    yield bytes.subarray(from, from + size)
    from += size
  }
  yield bytes.subarray(from)
}

test('payloads arrive as they were sent, however the stream is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 20 }),
      async (payloads, sizes) => {
        const stream = Readable.from(cut(frameMessages(payloads), sizes))
        const arrived = await Array.fromAsync(readMessages(stream, 40))
        assert.deepEqual(
          arrived.map((payload) => [...payload]),
          payloads.map((payload) => [...payload]),
        )
      },
    ),
  )
})

test('a frame that announces too much is refused before it is read', async () => {
  const stream = Readable.from([Buffer.from([0xff, 0xff, 0xff, 0xff])])
  await assert.rejects(Array.fromAsync(readMessages(stream, 1_000)), /4294967295 bytes, 1000 are/u)
})
