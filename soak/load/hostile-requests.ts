import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import type { RandomSource } from '../../src/lib/random/seeded-random.ts'
import { imageItem } from '../../test/support/facegate/test-facegate.ts'
import type { SoakServer } from '../server.ts'
import { addViolation, countAnswer, type CallRecord } from './call-record.ts'
import { answerOf } from './send-call.ts'
import { damaged } from './soak-images.ts'

/** A request that the service must reject, and the answers that are correct. */
type HostileRequest = { readonly body: unknown; readonly expected: RegExp; readonly key?: string }

const mebibyte = 1024 * 1024

/** Sends one bad request. Every answer but the expected one is a violation. */
export async function sendHostileRequest(
  server: SoakServer,
  record: CallRecord,
  { random, plain }: { readonly random: RandomSource; readonly plain: Buffer },
): Promise<void> {
  if (random() < 0.1) return abandonRequest(server, plain)
  const makers = [malformed, nested, badBase64, truncated, bitFlips, wrongType, bomb, badKey, large]
  const make = makers[Math.floor(random() * makers.length)] ?? malformed
  const { body, expected, key } = make(random, plain)
  const { post, process: child } = await server.running()
  try {
    const answer = answerOf(await post(body, key === undefined ? {} : { 'x-api-key': key }))
    countAnswer(record, `hostile: ${answer}`)
    if (!expected.test(answer)) addViolation(record, `${make.name} was answered with ${answer}`)
  } catch (error) {
    // The server may close a connection whose body is too large, and it is restarted.
    const isEnded = child.exitCode !== null || child.signalCode !== null
    countAnswer(record, 'hostile: disconnected')
    if (!isEnded && make !== large && error instanceof Error && error.name === 'AssertionError')
      addViolation(record, `${make.name}: ${error.message}`)
  }
}

/** HTTP 503 is correct for every image while a worker is replaced; a crash quarantine is as well. */
const imageRejected = /^(?:IMAGE_\w+|UNSUPPORTED_IMAGE_TYPE|INVALID_REQUEST|HTTP 503)$/u

function detectBody(bytes: Buffer, contentType = 'image/jpeg'): object {
  return {
    action: 'svc.detect',
    requestId: randomUUID(),
    params: { images: [imageItem({ bytes, contentType })] },
  }
}

function malformed(random: RandomSource): HostileRequest {
  const text = JSON.stringify({ action: 'svc.detect', params: {} })
  return {
    body: text.slice(0, 1 + Math.floor(random() * (text.length - 1))),
    expected: /^HTTP 400$/u,
  }
}

function nested(random: RandomSource): HostileRequest {
  const depth = 17 + Math.floor(random() * 100_000)
  return { body: '['.repeat(depth) + ']'.repeat(depth), expected: /^HTTP 400$/u }
}

function badBase64(_random: RandomSource, plain: Buffer): HostileRequest {
  const image = { ...imageItem({ bytes: plain, contentType: 'image/jpeg' }), bytes: '%%%%' }
  const body = { action: 'svc.detect', params: { images: [image] } }
  return { body, expected: /^(?:INVALID_REQUEST|HTTP 503)$/u }
}

function truncated(random: RandomSource, plain: Buffer): HostileRequest {
  const length = Math.floor(random() * plain.length * 0.9)
  return { body: detectBody(plain.subarray(0, length)), expected: imageRejected }
}

/** Changed bytes can leave a valid image, in which a face may be found or not. */
function bitFlips(random: RandomSource, plain: Buffer): HostileRequest {
  const expected =
    /^(?:ok|NO_FACE_FOUND|IMAGE_\w+|UNSUPPORTED_IMAGE_TYPE|INVALID_REQUEST|HTTP 503)$/u
  return { body: detectBody(damaged(plain, random)), expected }
}

function wrongType(_random: RandomSource, plain: Buffer): HostileRequest {
  return {
    body: detectBody(plain, 'image/png'),
    expected: /^(?:UNSUPPORTED_IMAGE_TYPE|INVALID_REQUEST|HTTP 503)$/u,
  }
}

/** A PNG header that declares 64,250 × 64,250 pixels. */
function bomb(): HostileRequest {
  const header = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const size = Buffer.from('0000fafa0000fafa0802000000', 'hex')
  const bytes = Buffer.concat([header, size, Buffer.alloc(64)])
  return { body: detectBody(bytes, 'image/png'), expected: imageRejected }
}

function badKey(random: RandomSource, plain: Buffer): HostileRequest {
  const key = `fsk_live_${'A'.repeat(Math.floor(random() * 60))}`
  return { body: detectBody(plain), key, expected: /^HTTP 401$/u }
}

function large(): HostileRequest {
  return { body: Buffer.alloc(25 * mebibyte, ' '), expected: /^HTTP 413$/u }
}

/** Sends half a request and closes the connection. */
async function abandonRequest(server: SoakServer, plain: Buffer): Promise<void> {
  const { url } = await server.running()
  const { hostname, port } = new URL(url)
  const body = JSON.stringify(detectBody(plain))
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.end(
    `POST /v1/face/execute HTTP/1.1\r\nHost: soak\r\nX-Api-Key: ${server.key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n` +
      body.slice(0, body.length / 2),
    () => socket.destroy(),
  )
}
