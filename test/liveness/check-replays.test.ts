import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createKey } from '../../src/store/tenancy/keys.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { frameImages } from '../support/gallery/challenge-frames.ts'
import {
  answerOf,
  createSession,
  useChallengeGallery,
  wrongAnswerOf,
  type CreatedSession,
} from '../support/gallery/challenge-gallery.ts'

const origin = 'https://app.example.org'
const images = frameImages([[{ name: 'Ada' }]])
/** What the route of a session adds to the image of a check. */
const params = { images, features: ['pose'], facePolicy: 'single' }

const service = useChallengeGallery()

async function createClient() {
  const client = await service.createProject()
  const { db } = service.gallery.database.store
  await updateProject(db, client.project.projectId, { livenessOrigins: origin })
  const createCheckedSession = async () => {
    const session = await createSession(client)
    const check = (requestId = randomUUID()) => send(session, 'svc.analyze', images, requestId)
    const attempt = (frames: object, requestId: string) =>
      send(session, 'svc.liveness', frames, requestId)
    return { session, check, attempt }
  }
  const send = async (
    session: CreatedSession & Record<string, unknown>,
    action: string,
    sent: object,
    requestId: string,
    // oxlint-disable-next-line typescript/no-explicit-any
  ): Promise<Record<string, any>> => {
    const path = `/v1/liveness/sessions/${session.livenessSessionId}/frames`
    const response = await fetch(`${client.url}${path}`, {
      method: 'POST',
      headers: {
        origin,
        'content-type': 'application/json',
        'x-session-token': String(session['sessionToken']),
      },
      body: JSON.stringify({ action, requestId, params: { images: sent } }),
    })
    assert.equal(response.status, 200)
    // oxlint-disable-next-line typescript/no-explicit-any
    return (await response.json()) as Record<string, any>
  }
  const costs = async () => (await service.loggedCalls(client)).map((row) => row.costMicros)
  return { client, createCheckedSession, costs }
}

test('A free check is not replayed for a call of svc.analyze, and a call not for a check', async () => {
  const { client, createCheckedSession, costs } = await createClient()
  const { check } = await createCheckedSession()
  const [ofCheck, ofCall] = [randomUUID(), randomUUID()]
  assert.deepEqual((await check(ofCheck)).face, { yaw: 0, pitch: 0 })
  const replayed = await client.call('svc.analyze', params, { requestId: ofCheck })
  assert.equal(replayed.body.errors[0]?.code, 'REQUEST_ID_CONFLICT', JSON.stringify(replayed.body))
  assert.equal(replayed.body.data, null)
  const paid = await client.call('svc.analyze', params, { requestId: ofCall })
  assert.equal(paid.body.ok, true)
  const refused = await check(ofCall)
  assert.equal(refused.face, null)
  assert.match(refused.detail, /requestId/u)
  const charged = (await costs()).filter((micros) => micros > 0n)
  assert.equal(charged.length, 1, 'the paid call only')
})

test('A parameter of a call cannot state the scope of a session', async () => {
  const { client, createCheckedSession } = await createClient()
  const { session, check } = await createCheckedSession()
  const requestId = randomUUID()
  await check(requestId)
  const { livenessSessionId } = session
  const scope = `liveness session ${livenessSessionId}`
  for (const field of [{ livenessSessionId }, { replayScope: scope }, { scope }]) {
    const { body } = await client.call('svc.analyze', { ...params, ...field }, { requestId })
    assert.equal(body.errors[0]?.code, 'REQUEST_ID_CONFLICT')
  }
})

test('A check with the same requestId is replayed in its session, and not in another one', async () => {
  const { createCheckedSession } = await createClient()
  const [first, second] = [await createCheckedSession(), await createCheckedSession()]
  const requestId = randomUUID()
  const checked = await first.check(requestId)
  const count = service.gallery.vision.requests.length
  assert.deepEqual(await first.check(requestId), checked)
  assert.equal(service.gallery.vision.requests.length, count, 'no image was analyzed again')
  const refused = await second.check(requestId)
  assert.deepEqual([refused.face, refused.state], [null, 'open'])
  assert.match(refused.detail, /requestId/u)
})

test('A session that was passed, has failed or has expired checks no frame', async () => {
  const { client, createCheckedSession } = await createClient()
  const requireRefused = async (
    { check }: Awaited<ReturnType<typeof createCheckedSession>>,
    state: string,
  ) => {
    const count = service.gallery.vision.requests.length
    const body = await check()
    assert.deepEqual([body.state, body.face, body.causes], [state, null, []])
    assert.match(body.detail, /no liveness session with this id that accepts frames/u)
    assert.equal(service.gallery.vision.requests.length, count, 'no image was analyzed')
  }
  const [passed, failed, expired] = [
    await createCheckedSession(),
    await createCheckedSession(),
    await createCheckedSession(),
  ]
  await client.value('svc.liveness', answerOf(passed.session))
  await requireRefused(passed, 'passed')
  const { livenessSessionId } = failed.session
  for (const left of [2, 1, 0]) {
    const path = `/v1/liveness/sessions/${livenessSessionId}`
    const { steps } = (await client.rest('GET', path)).body
    await client.value('svc.liveness', wrongAnswerOf({ livenessSessionId, steps }))
    assert.equal((await client.rest('GET', path)).body.attemptsLeft, left)
  }
  await requireRefused(failed, 'failed')
  assert.notEqual((await expired.check()).face, null, 'it is open until it expires')
  service.clock.nowMs += 121_000
  await requireRefused(expired, 'expired')
  const refused = (await service.loggedCalls(client)).filter(
    ({ code }) => code === 'LIVENESS_SESSION_NOT_FOUND',
  )
  assert.equal(refused.length, 3)
})

test('Frames of an attempt are charged once, and need svc.liveness also as a replay', async () => {
  const { client, createCheckedSession, costs } = await createClient()
  const { session, attempt } = await createCheckedSession()
  const { images: frames } = answerOf(session)
  const requestId = randomUUID()
  assert.equal((await attempt(frames, requestId)).state, 'passed')
  const { livenessSessionId } = session
  const call = [{ livenessSessionId, images: frames }, { requestId }] as const
  const { body } = await client.call('svc.liveness', ...call)
  assert.deepEqual([body.ok, body.meta], [true, { idempotencyReplay: true }])
  const charged = (await costs()).filter((micros) => micros > 0n)
  assert.deepEqual(charged, [2000n], 'the price of svc.liveness, which both ways have')
  const { db } = service.gallery.database.store
  const { projectId } = client.project
  const weak = { projectId, name: 'weak', permissions: ['svc.analyze'], expiresAtUtc: null }
  const { key } = await createKey(db, weak, new Date(service.clock.nowMs))
  const refused = await service.gallery.withKey(key).call('svc.liveness', ...call)
  assert.equal(refused.body.errors[0]?.code, 'FORBIDDEN')
  assert.equal(refused.body.data, null)
})
