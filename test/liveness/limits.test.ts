import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sessionFrameBytesMax } from '../../src/lib/limits/call-limits.ts'
import {
  answerOf,
  createSession,
  failuresMax,
  frameBytesMax,
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
  const tooLarge = answerWith(session, sessionFrameBytesMax + 1)
  const refused = await client.call('svc.liveness', tooLarge)
  const [error] = refused.body.errors
  assert.equal(error.code, 'IMAGE_TOO_LARGE')
  assert.match(error.message, /params\.images\[0\]\.bytes: .* at most 2097152 bytes/u)
  const passed = await client.value('svc.liveness', answerWith(session, sessionFrameBytesMax))
  assert.equal(passed.decision, 'live')
})

/** Returns the parameters of a call in which a person follows the steps; the first frame has a size. */
function answerWith(session: CreatedSession, size: number) {
  const answer = answerOf(session) as { images: { bytes: string }[] }
  const [first, ...others] = answer.images
  const bytes = Buffer.alloc(size, ' ')
  Buffer.from(first?.bytes ?? '', 'base64').copy(bytes)
  return { ...answer, images: [{ ...first, bytes: bytes.toString('base64') }, ...others] }
}

test('Beyond the limit of stored reference frames, the oldest frames of the project are removed', async () => {
  const [client, other] = [await createProject(), await createProject()]
  const pass = async (by: typeof client, size: number) => {
    clock.nowMs += 1
    const session = await createSession(by)
    await by.value('svc.liveness', answerWith(session, size))
    return session.livenessSessionId
  }
  const ofOther = await pass(other, sessionFrameBytesMax)
  const oldest = await pass(client, sessionFrameBytesMax)
  const { db } = service.gallery.database.store
  const stored = db.selectFrom('livenessFrames').select('bytes').where('sessionId', '=', oldest)
  const { bytes } = await stored.executeTakeFirstOrThrow()
  const addedBytes = bytes - sessionFrameBytesMax
  const second = await pass(client, frameBytesMax - bytes - addedBytes)
  const read = async (by: typeof client, sessionId: string) => {
    const url = `/v1/liveness/sessions/${sessionId}?referenceFrame=true`
    const { state, referenceFrame } = (await by.rest('GET', url)).body
    return [state, referenceFrame !== null]
  }
  assert.deepEqual(await read(client, oldest), ['passed', true], 'exactly the limit is stored')
  const third = await pass(client, 1000)
  assert.deepEqual(await read(client, oldest), ['passed', false])
  for (const sessionId of [second, third])
    assert.deepEqual(await read(client, sessionId), ['passed', true])
  assert.deepEqual(await read(other, ofOther), ['passed', true])
  const { body } = await client.call('svc.identify', { livenessSessionId: oldest })
  assert.equal(body.errors[0].code, 'LIVENESS_FAILED')
  assert.match(body.errors[0].message, /its frame was removed.* LIVENESS_FRAMES_BYTES_MAX/u)
  await client.value('svc.identify', { livenessSessionId: second })
})
