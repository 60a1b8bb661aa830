import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sessionFrameBytesMax } from '../../src/lib/limits/call-limits.ts'
import {
  answerOf,
  createSession,
  failuresMax,
  openMax,
  useChallengeGallery,
  wrongAnswerOf,
  type CreatedSession,
} from '../support/gallery/challenge-gallery.ts'

const service = useChallengeGallery()
const { clock, createProject, loggedCalls } = service

test(`After ${failuresMax} failures within a minute, sessions are refused until the oldest is a minute old`, async () => {
  const client = await createProject()
  const [kept, ...failing] = [
    await createSession(client),
    await createSession(client),
    await createSession(client),
  ]
  for (const challenge of failing) {
    await client.value('svc.liveness', wrongAnswerOf(challenge))
    clock.nowMs += 1000
  }
  await client.value('svc.liveness', wrongAnswerOf(await createSession(client)))
  const refused = await client.rest('POST', '/v1/liveness/sessions', {})
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '58')
  assert.match(refused.body.detail, /failed within 60 s; wait 58 s/u)
  const other = await createProject()
  assert.equal((await other.rest('POST', '/v1/liveness/sessions', {})).status, 200)
  const requestId = randomUUID()
  const count = service.gallery.vision.requests.length
  const limited = await client.call('svc.liveness', answerOf(kept), { requestId })
  assert.equal(limited.body.errors[0].code, 'RATE_LIMITED')
  assert.equal(limited.headers.get('retry-after'), '58')
  assert.equal(service.gallery.vision.requests.length, count, 'no image was analyzed')
  clock.nowMs += 57_999
  assert.equal((await client.rest('POST', '/v1/liveness/sessions', {})).status, 429)
  clock.nowMs += 1
  assert.equal((await client.rest('POST', '/v1/liveness/sessions', {})).status, 200)
  const retried = await client.call('svc.liveness', answerOf(kept), { requestId })
  assert.equal(retried.body.ok, true, 'the refused call was not stored, so that its retry runs')
  assert.equal(retried.body.data.results[0].value.decision, 'live')
})

test(`Of concurrent guesses, ${failuresMax} are judged, and the others leave their attempts unspent`, async () => {
  const client = await createProject()
  const challenges: CreatedSession[] = []
  for (let index = 0; index <= failuresMax; index++) challenges.push(await createSession(client))
  const guesses = await Promise.all(
    challenges.map((challenge) => client.call('svc.liveness', wrongAnswerOf(challenge))),
  )
  const codes = guesses.map(({ body }) => String(body.errors[0]?.code ?? 'OK'))
  assert.deepEqual(codes.toSorted(), ['OK', 'OK', 'OK', 'RATE_LIMITED'])
  const logged = (await loggedCalls(client)).map(({ code, costMicros }) => `${code} ${costMicros}`)
  assert.equal(logged.filter((row) => row === 'RATE_LIMITED 0').length, 1)
  const refused = challenges[codes.indexOf('RATE_LIMITED')]
  assert.ok(refused)
  clock.nowMs += 60_000
  assert.equal((await client.value('svc.liveness', answerOf(refused))).decision, 'live')
})

test(`A project has at most ${openMax} open sessions`, async () => {
  const client = await createProject()
  const challenges: CreatedSession[] = []
  for (let index = 0; index < openMax; index++) challenges.push(await createSession(client))
  const refused = await client.rest('POST', '/v1/liveness/sessions', {})
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.match(refused.body.detail, /6 open liveness sessions/u)
  const [first] = challenges
  assert.ok(first)
  await client.value('svc.liveness', answerOf(first))
  await createSession(client)
  assert.equal((await client.rest('POST', '/v1/liveness/sessions', {})).status, 429)
  clock.nowMs += 120_000
  await createSession(client)
})

test(`A frame of a session has at most ${sessionFrameBytesMax} bytes, and a larger one spends no attempt`, async () => {
  const client = await createProject()
  const session = await createSession(client)
  const answer = answerOf(session) as { images: { bytes: string }[] }
  const [first, ...others] = answer.images
  const frame = Buffer.from(first?.bytes ?? '', 'base64')
  const answerWith = (size: number) => {
    const bytes = Buffer.alloc(size, ' ')
    frame.copy(bytes)
    return { ...answer, images: [{ ...first, bytes: bytes.toString('base64') }, ...others] }
  }
  const refused = await client.call('svc.liveness', answerWith(sessionFrameBytesMax + 1))
  const [error] = refused.body.errors
  assert.equal(error.code, 'IMAGE_TOO_LARGE')
  assert.match(error.message, /params\.images\[0\]\.bytes: .* at most 2097152 bytes/u)
  const passed = await client.value('svc.liveness', answerWith(sessionFrameBytesMax))
  assert.equal(passed.decision, 'live')
})
