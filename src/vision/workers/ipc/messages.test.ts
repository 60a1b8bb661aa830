import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deserializeJob,
  serializeJob,
  type AnalysisJob,
  readMessages,
  writeMessage,
} from './messages.ts'
import { PassThrough, Readable } from 'node:stream'
import * as fc from 'fast-check'

const request = { minFaceConfidence: 0.6, minFaceSizePx: 40, maxFaces: 1, crops: false }

// A text that is not base64 must not become valid on its way: "Ł" has the low byte of "A".
for (const bytes of ['', 'AAAA', 'A'.repeat(100_001), 'ŁAAA', 'é€😀\n"\\'])
  test(`A worker receives the text of an image as it was sent: ${bytes.slice(0, 8)}`, () => {
    const job: AnalysisJob = {
      image: { bytes, contentType: 'image/png' },
      request,
      path: 'params.images[0]',
    }
    assert.deepEqual(deserializeJob(serializeJob(job)), job)
  })

test('A worker receives the vectors of a request', () => {
  const quick = { modelId: 'model', vector: Float32Array.of(0.25, -1e-7, 3) }
  const job = {
    image: { bytes: 'AAAA', contentType: 'image/jpeg' as const },
    request: { ...request, samePersonAs: quick },
    path: 'params.images[1]',
  } satisfies AnalysisJob
  const received = deserializeJob(serializeJob(job))
  assert.deepEqual(received.request.samePersonAs, quick)
})

/** Returns the bytes of the messages with these payloads. */
function frameMessages(payloads: readonly Uint8Array[]): Buffer {
  const stream = new PassThrough({ highWaterMark: 1_000_000 })
  for (const payload of payloads) writeMessage(stream, payload)
  stream.end()
  return Buffer.concat([stream.read() ?? Buffer.alloc(0)])
}

/** Yields `bytes` in chunks of the given sizes; the last chunk contains the rest. */
function* splitIntoChunks(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let from = 0
  for (const size of sizes) {
    yield bytes.subarray(from, from + size)
    from += size
  }
  yield bytes.subarray(from)
}

test('Payloads are received as sent, however the stream is split into chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 20 }),
      async (payloads, sizes) => {
        const stream = Readable.from(splitIntoChunks(frameMessages(payloads), sizes))
        const received = await Array.fromAsync(readMessages(stream, 40))
        assert.deepEqual(
          received.map((payload) => [...payload]),
          payloads.map((payload) => [...payload]),
        )
      },
    ),
  )
})

test('A message that announces too many bytes is rejected before it is read', async () => {
  const stream = Readable.from([Buffer.from([0xff, 0xff, 0xff, 0xff])])
  await assert.rejects(
    Array.fromAsync(readMessages(stream, 1_000)),
    /4294967295 bytes exceeds the limit of 1000/u,
  )
})
