import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { allocate } from '../../src/billing/ledger.ts'
import { findBalance } from '../../src/store/billing/balances.ts'
import { updateKey } from '../../src/store/tenancy/key-changes.ts'
import { budgetLedger, updateProject } from '../../src/store/tenancy/projects.ts'
import { frameImages, framesOf } from '../support/gallery/challenge-frames.ts'
import {
  answerOf,
  createSession,
  useChallengeGallery,
  wrongAnswerOf,
} from '../support/gallery/challenge-gallery.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'

const origin = 'https://app.example.org'

const service = useChallengeGallery()

/** Creates a project with an origin, and a session of it. */
async function createBrowserSession(permissions = ['*']) {
  const client = await service.createProject(permissions)
  const { db } = service.gallery.database.store
  await updateProject(db, client.project.projectId, {
    livenessOrigins: `https://a.example ${origin}`,
  })
  const session = await createSession(client)
  const token = String(session['sessionToken'])
  assert.match(token, /^fst_[\w-]{43}$/u)
  const url = `${client.url}/v1/liveness/sessions/${session.livenessSessionId}/frames`
  const send = async (
    params: object,
    headers: object = {},
    requestId = randomUUID(),
    action = 'svc.liveness',
  ) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        origin,
        'content-type': 'application/json',
        'x-session-token': token,
        ...headers,
      },
      body: JSON.stringify({ action, requestId, params }),
    })
    // oxlint-disable-next-line typescript/no-explicit-any
    const body = (await response.json()) as Record<string, any>
    return { status: response.status, headers: response.headers, body }
  }
  const check = (params: object) => send(params, {}, randomUUID(), 'svc.analyze')
  return { client, session, token, url, send, check }
}

test('While the account is moved, frames get 503 with Retry-After, which the page can read', async () => {
  const { client, session, send } = await createBrowserSession()
  const { db } = service.gallery.database.store
  const setFrozen = (isFrozen: 0 | 1) =>
    db
      .updateTable('projects')
      .set({ isFrozen })
      .where('projectId', '=', client.project.projectId)
      .execute()
  await setFrozen(1)
  const { images } = answerOf(session)
  const rejected = await send({ images })
  assert.equal(rejected.status, 503, JSON.stringify(rejected.body))
  assert.match(rejected.body['detail'], /being moved/u)
  assert.equal(rejected.headers.get('retry-after'), '2')
  assert.equal(rejected.headers.get('access-control-allow-origin'), origin)
  assert.equal((await send({ images }, { origin: 'https://other.example' })).status, 403)
  assert.equal((await send({ images }, { 'x-session-token': 'fst_x' })).status, 401)
  await setFrozen(0)
  assert.equal((await send({ images })).body['state'], 'passed')
})

test('A browser sends the frames of its session and reads its state, without a score', async () => {
  const { client, session, send } = await createBrowserSession()
  const { images } = answerOf(session)
  const requestId = randomUUID()
  const passed = await send({ images }, {}, requestId)
  assert.equal(passed.status, 200, JSON.stringify(passed.body))
  assert.equal(passed.headers.get('access-control-allow-origin'), origin)
  assert.deepEqual(passed.body, {
    sessionId: session.livenessSessionId,
    state: 'passed',
    attemptsLeft: 3,
    steps: [],
    angles: [],
    expiresAtUtc: null,
    framesMax: 10,
    isJudged: true,
    causes: [],
    face: null,
    detail: null,
  })
  assert.deepEqual((await send({ images }, {}, requestId)).body, passed.body, 'a retry')
  const billed = (await service.loggedCalls(client)).filter(({ costMicros }) => costMicros > 0n)
  assert.deepEqual(
    billed.map(({ action, costMicros }) => [action, costMicros]),
    [['svc.liveness', 2000n]],
  )
})

test('A failed attempt returns its causes and the steps of the next one', async () => {
  const { session, send } = await createBrowserSession()
  const { images } = wrongAnswerOf(session)
  const failed = (await send({ images })).body
  assert.deepEqual([failed.state, failed.attemptsLeft, failed.isJudged], ['open', 2, true])
  assert.equal(failed.steps.length, 3)
  assert.ok(failed.causes.length > 0)
  const { body } = await send({ images: frameImages(framesOf(failed.steps, {}, failed.angles)) })
  assert.equal(body.state, 'passed')
})

test('The token is refused for another session, another origin, another route and without one', async () => {
  const { client, session, token, send } = await createBrowserSession()
  const { images } = answerOf(session)
  const other = await createBrowserSession()
  const refusals = [
    await other.send({ images }, { 'x-session-token': token }),
    await send({ images }, { 'x-session-token': '' }),
    await send({ images }, { 'x-session-token': '', 'x-api-key': client.key }),
  ]
  for (const { status, body } of refusals)
    assert.deepEqual([status, body], [401, refusals[0]?.body])
  const foreign = await send({ images }, { origin: 'https://evil.example' })
  assert.equal(foreign.status, 403)
  assert.equal(foreign.headers.get('access-control-allow-origin'), null)
  for (const path of [
    `/v1/liveness/sessions/${session.livenessSessionId}`,
    '/v1/subjects',
    '/v1/me',
  ]) {
    const headers = { 'x-session-token': token, 'x-api-key': token, origin }
    assert.equal((await fetch(client.url + path, { headers })).status, 401, path)
  }
  assert.equal((await send({ images })).body.state, 'passed', 'no refusal spent the attempt')
})

test('A page sends images only: no other action, parameter or session', async () => {
  const { session, send } = await createBrowserSession()
  const { images } = answerOf(session)
  for (const params of [
    { images, threshold: 0 },
    { images, livenessSessionId: 'other' },
  ]) {
    const { body } = await send(params)
    assert.deepEqual([body.isJudged, body.attemptsLeft], [false, 3])
    assert.match(body.detail, /a page may send images only/u)
  }
})

test('A browser checks single frames: the causes and the pose, without an attempt', async () => {
  const { client, session, send, check } = await createBrowserSession()
  const checkPeople = async (...people: FakePerson[]) => {
    const { status, body } = await check({ images: frameImages([people]) })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.state, body.attemptsLeft, body.isJudged], ['open', 3, false])
    assert.deepEqual(body.steps, session.steps)
    return { face: body.face, causes: body.causes.map(({ cause }: { cause: string }) => cause) }
  }
  const ada = { name: 'Ada' }
  const turned = await checkPeople({ ...ada, yaw: 21 })
  assert.deepEqual(turned, { face: { yaw: 21, pitch: 0 }, causes: [] })
  assert.deepEqual(await checkPeople(), { face: null, causes: ['NO_FACE'] })
  const several = await checkPeople(ada, { name: 'Bea', left: 400 })
  assert.deepEqual(several, { face: null, causes: ['ANOTHER_PERSON'] })
  const checks = (await service.loggedCalls(client)).filter((row) => row.action === 'svc.analyze')
  assert.deepEqual(checks.map(({ code }) => code).toSorted(), ['MULTIPLE_FACES', 'OK', 'OK'])
  assert.ok(
    checks.every(({ costMicros, transferId }) => costMicros === 0n && transferId === null),
    'they are free',
  )
  const refused = await check({ images: frameImages([[ada]]), maxFaces: 3 })
  assert.match(refused.body.detail, /a page may send images only/u)
  assert.equal((await send({ images: answerOf(session).images })).body.state, 'passed')
})

test('A key with the permission svc.liveness only, without budget left, is sufficient for checks', async () => {
  const { client, session, send, check } = await createBrowserSession(['svc.liveness'])
  const images = frameImages([[{ name: 'Ada' }]])
  const { store } = service.gallery.database
  const { balanceMicros } = await findBalance(store.db, budgetLedger(client.project.projectId))
  const addBudget = (micros: bigint) =>
    store.write((tx) => allocate(tx, client.project, micros, Date.now()))
  await addBudget(-balanceMicros)
  const { body } = await check({ images })
  await addBudget(balanceMicros)
  assert.deepEqual([body.face, body.causes, body.detail], [{ yaw: 0, pitch: 0 }, [], null])
  assert.equal(await client.code('svc.analyze', { images }), 'FORBIDDEN', 'outside of a session')
  assert.equal((await send({ images: answerOf(session).images })).body.state, 'passed')
})

test('A key that has lost the permission svc.liveness checks no frames', async () => {
  const { client, send, check, session } = await createBrowserSession([
    'svc.liveness',
    'svc.analyze',
  ])
  const { keyId } = (await client.rest('GET', '/v1/me')).body
  const change = { permissions: ['svc.analyze'] }
  await service.gallery.database.store.write((tx) => updateKey(tx, keyId, change))
  const images = frameImages([[{ name: 'Ada' }]])
  assert.match((await check({ images })).body.detail, /svc\.liveness/u)
  assert.match((await send({ images: answerOf(session).images })).body.detail, /svc\.liveness/u)
})

test('A token sends 240 requests', async () => {
  const { send } = await createBrowserSession()
  for (let index = 0; index < 240; index++) {
    const { status, body } = await send({ images: [] })
    assert.deepEqual([status, body.isJudged], [200, false])
  }
  const last = await send({ images: [] })
  assert.equal(last.status, 429)
  assert.match(last.body.detail, /no requests left/u)
})

test('The preflight of any origin is answered for this route only', async () => {
  const { client, url } = await createBrowserSession()
  const headers = { origin, 'access-control-request-method': 'POST' }
  const preflight = await fetch(url, { method: 'OPTIONS', headers })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
  assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /X-Session-Token/u)
  assert.equal(preflight.headers.get('access-control-allow-credentials'), null)
  const other = await fetch(`${client.url}/v1/face/execute`, { method: 'OPTIONS', headers })
  assert.equal(other.status, 405)
})
