import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, beforeEach, test } from 'node:test'
import { readBody } from '../../src/http/input/read-body.ts'
import type { Route } from '../../src/http/route.ts'
import { createHttpServer, type HttpServer } from '../../src/http/server.ts'
import { createLog } from '../../src/lib/log.ts'
import { chunksParsedMax, countParsedChunks, tinyChunk } from '../support/network/parsed-chunks.ts'
import { countResponses, openRawClient, rawGet } from '../support/network/raw-client.ts'
import { serverLimits } from '../support/network/server-limits.ts'

const largeBody = Buffer.alloc(256 * 1024, 'a')

let running = 0
let runningMax = 0
let handledCount = 0

/** Runs a handler for several turns of the event loop, and counts the handlers that run. */
async function counted<T>(work: () => T | Promise<T>): Promise<T> {
  handledCount++
  runningMax = Math.max(runningMax, ++running)
  await sleep(1)
  const result = await work()
  running--
  return result
}

/** Resolved when the requests of `/held` may read their bodies. */
const held = Promise.withResolvers<void>()

const routes: readonly Route[] = [
  { method: 'GET', path: '/immediate', handle: () => ({ status: 200, body: 'done' }) },
  {
    method: 'GET',
    path: '/number/:number',
    handle: ({ pathParams }) => counted(() => ({ status: 200, body: `<${pathParams['number']}>` })),
  },
  {
    method: 'GET',
    path: '/large',
    handle: () => counted(() => ({ status: 200, body: largeBody })),
  },
  {
    method: 'POST',
    path: '/held',
    handle: async ({ body: { stream } }) => {
      await held.promise
      let byteCount = 0
      await once(
        stream.on('data', ({ length }: Buffer) => void (byteCount += length)),
        'end',
      )
      return { status: 200, body: `<${byteCount}>` }
    },
  },
  {
    method: 'POST',
    path: '/echo',
    handle: (request) =>
      counted(async () => {
        request.body.accept({ projectId: 'test', accountId: 'test account' }, 100_000)
        const body = await readBody(request, 100_000, 'text/plain')
        return { status: 200, body: `<${body.toString('latin1')}>` }
      }),
  },
]

let server: HttpServer
let url: string
before(async () => {
  server = createHttpServer({
    routes,
    ...serverLimits,
    log: createLog('silent'),
  })
  url = await server.listen('127.0.0.1', 0)
})
after(() => server.close())
beforeEach(() => {
  running = 0
  runningMax = 0
  handledCount = 0
})

const typeHeader = 'Host: test\r\nContent-Type: text/plain\r\n'

function rawPost(body: string): string {
  return `POST /echo HTTP/1.1\r\n${typeHeader}Content-Length: ${body.length}\r\n\r\n${body}`
}

function rawChunked(chunks: readonly string[], trailer = ''): string {
  const encoded = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
  const head = `POST /echo HTTP/1.1\r\n${typeHeader}Transfer-Encoding: chunked\r\n\r\n`
  return `${head}${encoded.join('')}0\r\n${trailer}\r\n`
}

/** Returns the bodies of the responses, in the order of their arrival. */
const bodiesOf = (text: string): string[] =>
  [...text.matchAll(/<([^>]*)>/gu)].map(([, body = '']) => body)

test('Pipelined requests of one connection run one after another, and each gets its response', async () => {
  const client = await openRawClient(url)
  const numbers = Array.from({ length: 300 }, (_, number) => String(number))
  client.send(numbers.map((number) => rawGet(`/number/${number}`)).join(''))
  const text = await client.readUntil((received) => received.includes('<299>'))
  client.socket.destroy()
  assert.deepEqual(bodiesOf(text), numbers)
  assert.equal(runningMax, 1)
})

test('Pipelined requests leave a turn of the event loop to other connections after each response', async () => {
  const client = await openRawClient(url)
  const requestCount = 500
  let turnCount = 0
  const countTurn = (): void => {
    turnCount++
    turn = setImmediate(countTurn)
  }
  let turn = setImmediate(countTurn)
  client.send(`${rawGet('/immediate').repeat(requestCount)}${rawGet('/number/last')}`)
  await client.readUntil((received) => received.includes('<last>'))
  clearImmediate(turn)
  client.socket.destroy()
  assert.ok(turnCount >= requestCount, `${turnCount} turns for ${requestCount} requests`)
})

test('A connection that does not read its responses runs no further requests until it does', async () => {
  const client = await openRawClient(url)
  const requestCount = 400
  client.socket.pause()
  client.send(rawGet('/large').repeat(requestCount))
  for (let previousCount = 0; previousCount === 0 || previousCount < handledCount;) {
    previousCount = handledCount
    await sleep(100)
  }
  // The buffers of the operating system take some responses.
  assert.ok(handledCount < 100, `${handledCount} of ${requestCount} requests ran`)
  let receivedBytes = 0
  client.socket.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length
  })
  client.socket.resume()
  while (receivedBytes < requestCount * largeBody.length) await sleep(20)
  client.socket.destroy()
  assert.equal(handledCount, requestCount)
  assert.equal(runningMax, 1)
})

test('Only the first part of a chunked body is parsed until its request reads it', async () => {
  using parsed = countParsedChunks()
  const chunkCount = 80_000
  const client = await openRawClient(url)
  const head = `POST /held HTTP/1.1\r\n${typeHeader}Transfer-Encoding: chunked\r\n\r\n`
  client.send(`${head}${tinyChunk.repeat(chunkCount)}0\r\n\r\n`)
  await parsed.paused
  assert.ok(parsed.count() <= chunksParsedMax, `${parsed.count()} chunks were parsed`)
  held.resolve()
  assert.deepEqual(bodiesOf(await client.readUntil((text) => text.includes('>'))), [
    String(chunkCount),
  ])
  client.socket.destroy()
})

test('Requests and bodies that are divided at any byte are complete and in order', async () => {
  const bodies = ['a', '\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', '', 'last']
  const [first = '', second = '', third = '', fourth = '', last = ''] = bodies
  const text = [
    rawPost(first),
    rawChunked([second]),
    rawPost(third),
    rawChunked([fourth || '-'], 'Trailer: 1\r\n'),
    rawGet('/number/5'),
    rawPost(last),
  ].join('')
  const expected = [first, second, third, '-', '5', last]
  const cuts = Array.from({ length: text.length - 1 }, (_, index) => index + 1)
  const runDivided = async (cut: number): Promise<void> => {
    const client = await openRawClient(url)
    client.send(text.slice(0, cut))
    await sleep(2)
    client.send(text.slice(cut))
    const received = await client.readUntil((response) => response.includes(`<${last}>`))
    client.socket.destroy()
    assert.deepEqual(bodiesOf(received), expected, `divided at byte ${cut}`)
  }
  for (let from = 0; from < cuts.length; from += 50)
    await Promise.all(cuts.slice(from, from + 50).map(runDivided))
})

test('Requests that share a packet with the end of a body do not run without a limit', async () => {
  const client = await openRawClient(url)
  const requests = Array.from({ length: 300 }, () => rawChunked(['x']))
  client.send(`${requests.join('')}${rawPost('last')}`)
  const text = await client.readUntil((received) => received.includes('<last>'))
  client.socket.destroy()
  assert.equal(countResponses(text, 200), 301)
  assert.ok(runningMax <= 17, `${runningMax} requests ran at the same time`)
})

test('The parser accepts only CRLF as the end of a line, by which requests are divided', async () => {
  for (const end of ['\n\n', '\r\n\n', '\n\r\n']) {
    const client = await openRawClient(url)
    client.send(`GET /number/1 HTTP/1.1\r\nHost: test${end}`)
    const text = await client.readUntil((received) => received.includes('}'))
    client.socket.destroy()
    assert.match(text, /^HTTP\/1\.1 400 [^]*\{"detail":"Bad Request\."\}$/u)
  }
})

test('A pipelined request that is malformed is rejected after the responses before it', async () => {
  const client = await openRawClient(url)
  client.send(`${rawGet('/number/1')}${rawGet('/number/2')}malformed\r\n\r\n`)
  const text = await client.readUntil((received) => received.includes('}'))
  client.socket.destroy()
  assert.match(text, /^[^]*<1>[^]*<2>HTTP\/1\.1 400 [^]*"detail"/u)
})
