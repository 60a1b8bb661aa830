import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startGallery, type TestGallery } from '../../support/gallery/test-gallery.ts'
import { openBody } from '../../support/network/open-body.ts'
import {
  chunksParsedMax,
  countParsedChunks,
  tinyChunk,
} from '../../support/network/parsed-chunks.ts'

const mebibyte = 1024 * 1024
const bodyMax = 4 * mebibyte
/** 128 chunks of any size, and one for the 128 bytes that they contain. */
const freeChunks = 129

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({ environment: { BODY_BYTES_MAX: String(bodyMax) } })
})
after(() => gallery[Symbol.asyncDispose]())

/** Sends a body in chunks, by default of one byte, as far as the server reads it. @returns the response. */
async function sendChunks(
  call: Pick<TestGallery, 'url' | 'key'>,
  count: number,
  chunk: string = tinyChunk,
) {
  const sent = Buffer.from(`${chunk.repeat(count)}0\r\n\r\n`)
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
  const response = await sendChunks({ url: gallery.url, key: 'fsk_live_wrong' }, mebibyte)
  assert.match(response, /^HTTP\/1\.1 401 /u)
  assert.ok(
    counted.count() <= freeChunks + 1 + chunksParsedMax,
    `${counted.count()} chunks were parsed`,
  )
})

test('A body in too many tiny chunks is rejected with 413, and one chunk fewer is accepted', async () => {
  assert.match(await sendChunks(gallery, freeChunks), /^HTTP\/1\.1 400 /u)
  assert.match(await sendChunks(gallery, freeChunks + 1), /^HTTP\/1\.1 413 /u)
  const chunk = `100\r\n${' '.repeat(256)}\r\n`
  assert.match(await sendChunks(gallery, bodyMax / 256, chunk), /^HTTP\/1\.1 400 /u)
  using counted = countParsedChunks()
  assert.match(await sendChunks(gallery, 2 * mebibyte), /^HTTP\/1\.1 413 .*small chunks/su)
  // The rest is discarded like an anonymous body.
  const readMax = 2 * (freeChunks + 1 + chunksParsedMax)
  assert.ok(counted.count() <= readMax, `${counted.count()} chunks were parsed`)
})

test('One turn of the event loop parses chunks of a limited number of connections', async () => {
  const chunk = `80\r\n${' '.repeat(128)}\r\n`
  const sent = Buffer.from(`${chunk.repeat(400)}0\r\n\r\n`)
  using counted = countParsedChunks()
  let [before, perTurn] = [0, 0]
  const turn = (): void => {
    perTurn = Math.max(perTurn, counted.count() - before)
    before = counted.count()
    next = setImmediate(turn)
  }
  let next = setImmediate(turn)
  const head = { ...gallery, announcedBytes: 'chunked', sent: Buffer.alloc(0) } as const
  const sockets = await Promise.all(Array.from({ length: 40 }, () => openBody(head)))
  await counted.started(sockets.length)
  // All bodies arrive together.
  for (const socket of sockets) socket.write(sent)
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))))
  for (const socket of sockets) socket.destroy()
  clearImmediate(next)
  assert.equal(counted.count(), 40 * 400)
  assert.ok(perTurn <= 8 * 64, `${perTurn} chunks were parsed in a turn`)
})
