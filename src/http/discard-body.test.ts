import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as sendRequest, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { discardBody, type DiscardLimits } from './discard-body.ts'

/** Starts a server that rejects every request without reading its body. */
async function startRejecting(limits: DiscardLimits) {
  const server = createServer((_request, response) => {
    const payload = discardBody(response, '{}', limits)
    response.statusCode = 401
    if (typeof payload === 'string') response.end(payload)
    else (payload as NodeJS.ReadableStream).pipe(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends the head of a request and a part of its body. */
async function sendPart(port: number, headers: Readonly<Record<string, string>>, part: string) {
  const request = sendRequest({ port, host: '127.0.0.1', method: 'POST', headers })
  request.on('error', () => {}).write(part)
  const [response] = (await once(request, 'response')) as [ServerResponse['req']]
  const { socket } = response
  const closed = new Promise((resolve) => socket.once('close', resolve))
  response.resume()
  return { request, response, closed }
}

test('A body within the limit is discarded, and the connection stays open', async () => {
  await using server = await startRejecting({ bytesMax: 10 })
  const { request, response } = await sendPart(server.port, { 'content-length': '10' }, 'a')
  assert.equal(response.statusCode, 401)
  assert.equal(response.headers.connection, 'keep-alive')
  request.end('a'.repeat(9))
  await once(request, 'close')
  assert.equal(response.complete, true)
})

test('The response to a body over the limit, or of unknown length, closes the connection', async () => {
  await using server = await startRejecting({ bytesMax: 10, lingerMs: 1 })
  for (const headers of [{ 'content-length': '11' }, { 'transfer-encoding': 'chunked' }]) {
    const { response, closed } = await sendPart(server.port, headers, 'a'.repeat(11))
    assert.equal(response.statusCode, 401)
    assert.equal(response.headers.connection, 'close')
    assert.equal(response.headers['content-length'], '2')
    await closed
  }
})

test('A body that does not arrive in time ends the connection after the response', async () => {
  await using server = await startRejecting({ bytesMax: 10, msMax: 50 })
  for (const headers of [{ 'content-length': '10' }, { 'transfer-encoding': 'chunked' }]) {
    const { response, closed } = await sendPart(server.port, headers, 'a')
    assert.equal(response.statusCode, 401)
    await closed
  }
})
