import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { openBody } from '../../support/network/open-body.ts'
import {
  chunksParsedMax,
  countParsedChunks,
  tinyChunk,
} from '../../support/network/parsed-chunks.ts'

const kibibyte = 1024
const mebibyte = 1024 * kibibyte
const bodyMax = 4 * mebibyte

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { BODY_BYTES_MAX: String(bodyMax) } })
})
after(() => gallery[Symbol.asyncDispose]())

/** Sends a body in chunks of one byte, as far as the server reads it. @returns the response. */
async function sendTinyChunks(call: Pick<TestGallery, 'url' | 'key'>, count: number) {
  const sent = Buffer.from(`${tinyChunk.repeat(count)}0\r\n\r\n`)
  const socket = await openBody({ ...call, announcedBytes: 'chunked', sent })
  let response = ''
  socket.on('data', (data) => {
    response += String(data)
    if (response.includes('keep-alive')) socket.end()
  })
  await new Promise((resolve) => socket.once('close', resolve))
  return response
}

test('Of a body in tiny chunks without a valid key, few chunks are parsed', async () => {
  using counted = countParsedChunks()
  const response = await sendTinyChunks({ url: gallery.url, key: 'fsk_live_wrong' }, mebibyte)
  assert.match(response, /^HTTP\/1\.1 401 /u)
  // A chunk counts as at least three kibibytes.
  const chunksMax = mebibyte / (3 * kibibyte) + chunksParsedMax
  assert.ok(counted.count() <= chunksMax, `${counted.count()} chunks were parsed`)
})

test('A body in too many tiny chunks is rejected with 413, and one chunk fewer is accepted', async () => {
  const chunksMax = 512 + bodyMax / kibibyte
  assert.match(await sendTinyChunks(gallery, chunksMax), /^HTTP\/1\.1 400 /u)
  using counted = countParsedChunks()
  assert.match(await sendTinyChunks(gallery, 2 * mebibyte), /^HTTP\/1\.1 413 .*small chunks/su)
  // The rest is discarded like an anonymous body.
  const readMax = chunksMax + bodyMax / (3 * kibibyte) + 2 * chunksParsedMax
  assert.ok(counted.count() <= readMax, `${counted.count()} chunks were parsed`)
})
