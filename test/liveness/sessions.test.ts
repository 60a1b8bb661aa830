import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { frameImages, framesOf } from '../support/gallery/challenge-frames.ts'
import {
  answerOf,
  createSession,
  useChallengeGallery,
  wrongAnswerOf,
} from '../support/gallery/challenge-gallery.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import { type GalleryClient } from '../support/gallery/test-gallery.ts'

const service = useChallengeGallery()
const { clock, createProject, loggedCalls } = service

function readSession(client: GalleryClient, { livenessSessionId }: { livenessSessionId: string }) {
  return client.rest('GET', `/v1/liveness/sessions/${livenessSessionId}`)
}

test('A session has random steps: never the same twice in a row, and at least one turn to a side', async () => {
  const client = await createProject()
  const challenge = await createSession(client)
  assert.deepEqual([challenge['state'], challenge['attemptsLeft']], ['open', 3])
  assert.equal(challenge['sessionToken'], null, 'the project has no origins')
  assert.deepEqual([challenge.steps.length, challenge.angles?.length], [3, 3])
  assert.equal(challenge['framesMax'], 10)
  assert.equal(challenge['expiresAtUtc'], new Date(clock.nowMs + 120_000).toISOString())
  const instructions = challenge['instructions'] as Record<string, string>
  for (const step of challenge.steps) assert.match(instructions[step] ?? '', /^[A-Z][a-z ]+\.$/u)
  const drawn = new Set<string>()
  for (const count of [2, 3, 4])
    for (let round = 0; round < 8; round++) {
      const { steps } = await createSession(await createProject(), { steps: count })
      assert.equal(steps.length, count)
      assert.ok(steps.every((step, index) => step !== steps[index - 1]))
      assert.ok(steps.some((step) => step.startsWith('turn')))
      drawn.add(steps.join(' '))
    }
  assert.ok(drawn.size > 8, 'the steps are random')
})

test('A request for a session is checked, logged and free, and consumes one token of the rate limit', async () => {
  const client = await createProject()
  for (const [body, detail] of [
    [{ steps: 1 }, /^body\.steps: /u],
    [{ steps: 5 }, /^body\.steps: /u],
    [{ steps: 2.5 }, /^body\.steps: /u],
    [{ count: 3 }, /^body\.count: unknown field; the fields are steps, requireAngles, requestId/u],
    [[], /must be a JSON object/u],
  ] as const) {
    const { status, body: refusal } = await client.rest('POST', '/v1/liveness/sessions', body)
    assert.equal(status, 400, JSON.stringify(refusal))
    assert.match(refusal.detail, detail)
  }
  const response = await client.rest('POST', '/v1/liveness/sessions', {})
  assert.ok(response.headers.has('ratelimit-remaining') && response.headers.has('x-request-id'))
  const other = await createProject(['svc.detect'])
  assert.equal((await other.rest('POST', '/v1/liveness/sessions', {})).status, 403)
  const textBody = await fetch(`${client.url}/v1/liveness/sessions`, {
    method: 'POST',
    headers: { 'x-api-key': client.key, 'content-type': 'text/plain' },
    body: '{}',
  })
  assert.equal(textBody.status, 415)
  const rows = await loggedCalls(client)
  const codes = rows.map(({ action, code, costMicros }) => `${action} ${code} ${costMicros}`)
  const name = 'POST /v1/liveness/sessions'
  assert.deepEqual(codes.toSorted(), [
    `${name} HTTP_415 0`,
    ...Array.from({ length: 5 }, () => `${name} INVALID_REQUEST 0`),
    `${name} OK 0`,
  ])
})

test('A person who follows the steps is live, whatever the passive networks are uncertain about', async () => {
  const client = await createProject()
  for (const liveness of [{ score: 0.99 }, { score: 0.45 }, { score: 0.01, isBuiltin: true }]) {
    const challenge = await createSession(client)
    const value = await client.value('svc.liveness', answerOf(challenge, { liveness }))
    assert.deepEqual([value.decision, value.live, value.reasons], ['live', true, []])
    assert.equal(value.score, liveness.score)
    const { body: state } = await readSession(client, challenge)
    assert.deepEqual([state.state, state.decision, state.steps], ['passed', 'live', []])
    const { passed, steps, samePerson, flat } = value.challenge
    assert.deepEqual([passed, samePerson, flat], [true, true, false])
    const indexed = challenge.steps.map((step, index) => [step, true, index + 1])
    assert.deepEqual(
      steps.map((step: Record<string, unknown>) => [
        step['step'],
        step['passed'],
        step['imageIndex'],
      ]),
      indexed,
    )
  }
})

test('Without livenessSessionId nothing changes: further images are not analyzed', async () => {
  const client = await createProject()
  const images = frameImages(framesOf(['turnLeft']))
  const count = service.gallery.vision.requests.length
  const value = await client.value('svc.liveness', { images })
  assert.equal(service.gallery.vision.requests.length, count + 1)
  assert.equal('challenge' in value, false)
})

test('An attempt is not passed with steps in another order, another person, a spoof or a poor frame', async () => {
  const steps = async (client: GalleryClient, person: Partial<FakePerson>) =>
    client.value('svc.liveness', answerOf(await createSession(client), person))
  const client = await createProject()
  const wrong = await client.value('svc.liveness', wrongAnswerOf(await createSession(client)))
  assert.deepEqual([wrong.decision, wrong.reasons], ['uncertain', ['CHALLENGE_NOT_FOLLOWED']])
  assert.equal(wrong.challenge.passed, false)
  const challenge = await createSession(client)
  const [frontal, ...others] = framesOf(challenge.steps, {}, challenge.angles)
  const swapped = [frontal ?? [], ...others.map(([face]) => [{ ...face, name: 'Bea' }])]
  const { livenessSessionId } = challenge
  const substitute = await client.value('svc.liveness', {
    livenessSessionId,
    images: frameImages(swapped),
  })
  assert.deepEqual([substitute.decision, substitute.reasons], ['uncertain', ['DIFFERENT_PERSON']])
  assert.equal(substitute.challenge.samePerson, false)
  const spoof = await steps(client, { liveness: { score: 0.1 } })
  assert.deepEqual([spoof.decision, spoof.challenge.passed], ['spoof', true])
  const poor = await steps(await createProject(), { quality: 20 })
  assert.deepEqual([poor.decision, poor.reasons], ['uncertain', ['LOW_QUALITY']])
  for (const value of [wrong, substitute, spoof, poor]) assert.equal(value.live, false)
})

test('Frames are compared quickly with the first, and one frame of another person at any place is refused', async () => {
  const client = await createProject()
  const challenge = await createSession(client)
  const count = service.gallery.vision.requests.length
  await client.value('svc.liveness', answerOf(challenge))
  const [first, ...later] = service.gallery.vision.requests.slice(count)
  assert.deepEqual([first?.templates, first?.samePersonAs], [true, undefined])
  for (const { templates, samePersonAs } of later)
    assert.deepEqual([templates, samePersonAs?.vector.length], ['fast', 256])
  for (const replaced of [1, 2, 3]) {
    const other = await createProject()
    const { livenessSessionId, steps, angles } = await createSession(other)
    const frames = framesOf(steps, {}, angles).map((people, index) =>
      index === replaced ? people.map((face) => ({ ...face, name: 'Bea' })) : people,
    )
    const images = frameImages(frames)
    const { live, reasons } = await other.value('svc.liveness', { livenessSessionId, images })
    assert.deepEqual([live, reasons], [false, ['DIFFERENT_PERSON']], `frame ${replaced}`)
  }
})

test('A frame without exactly one face fails the attempt with its cause, and the next one has new steps', async () => {
  const faults: readonly (readonly [string, string, readonly FakePerson[]])[] = [
    ['NO_FACE_FOUND', 'LEFT_PICTURE', []],
    ['MULTIPLE_FACES', 'ANOTHER_PERSON', [{ name: 'Ada' }, { name: 'Bea' }]],
    ['FACE_TOO_SMALL', 'TOO_FAR', [{ name: 'Ada', side: 20 }]],
  ]
  const client = await createProject()
  const session = await createSession(client)
  let { steps } = session
  let attemptsLeft = 3
  for (const [code, cause, people] of faults) {
    const { livenessSessionId } = session
    const frames = framesOf(steps).with(2, [...people])
    const params = { livenessSessionId, images: frameImages(frames) }
    const { body } = await client.call('svc.liveness', params)
    assert.equal(body.ok, false)
    const [error] = body.errors
    assert.deepEqual([error.code, error.imageIndex], [code, 2])
    assert.match(error.message, /^params\.images\[2\]: /u)
    const { body: state } = await readSession(client, session)
    attemptsLeft -= 1
    assert.equal(state.attemptsLeft, attemptsLeft)
    assert.deepEqual(state.causes, [{ step: null, cause }])
    assert.equal(state.state, attemptsLeft > 0 ? 'open' : 'failed')
    steps = state.steps
  }
  assert.equal(await client.code('svc.liveness', answerOf(session)), 'LIVENESS_SESSION_NOT_FOUND')
  const { status } = await client.rest('POST', '/v1/liveness/sessions', {})
  assert.equal(status, 429, 'each of them counts as a failure')
})

test('Each step that was not shown has one cause that the person can act on', async () => {
  const causes = async (change: (frames: FakePerson[][]) => FakePerson[][]) => {
    const client = await createProject()
    const { livenessSessionId, steps } = await createSession(client, {
      steps: 2,
      requireAngles: false,
    })
    const images = frameImages(change(framesOf(steps)))
    const { challenge } = await client.value('svc.liveness', { livenessSessionId, images })
    return challenge.causes.map(({ step: _step, ...cause }: { step: string | null }) => cause)
  }
  const second = (face: Partial<FakePerson>) => (frames: FakePerson[][]) =>
    frames.with(2, frames[2]?.map((person) => ({ ...person, ...face })) ?? [])
  const [little] = await causes(second({ turn: { yaw: 5, pitch: 5 } }))
  assert.equal(little.cause, 'MOVED_TOO_LITTLE')
  assert.ok(little.degrees <= 5 && little.degreesMin >= 15, JSON.stringify(little))
  const opposite = (frames: FakePerson[][]) =>
    second({
      turn: { yaw: -(frames[2]?.[0]?.turn?.yaw ?? 0), pitch: -(frames[2]?.[0]?.turn?.pitch ?? 0) },
    })(frames)
  assert.deepEqual(await causes(opposite), [{ cause: 'WRONG_DIRECTION' }])
  assert.deepEqual(await causes(second({ name: 'Bea' })), [{ cause: 'ANOTHER_PERSON' }])
})

test('A session is created once for one requestId, and returned to its key only with the same parameters', async () => {
  const client = await createProject()
  const requestId = randomUUID()
  const first = await createSession(client, { requestId })
  assert.deepEqual(await createSession(client, { requestId: requestId.toUpperCase() }), first)
  for (const difference of [{ steps: 2 }, { requireAngles: false }]) {
    const body = { requestId, ...difference }
    const other = await client.rest('POST', '/v1/liveness/sessions', body)
    assert.equal(other.status, 400)
    assert.match(other.body.detail, /^body\.requestId: an earlier call/u)
  }
  const malformed = await client.rest('POST', '/v1/liveness/sessions', { requestId: '1' })
  assert.equal(malformed.status, 400)
  assert.notEqual(
    (await createSession(await createProject(), { requestId }))['sessionId'],
    first['sessionId'],
  )
})

test('A call that fails before its frames are judged does not spend the attempt', async () => {
  const client = await createProject()
  const challenge = await createSession(client)
  const answer = answerOf(challenge)
  const damaged = { kind: 'image', bytes: 'AAAA', contentType: 'image/jpeg' }
  const broken = { ...answer, images: answer.images.with(1, damaged) }
  assert.equal(await client.code('svc.liveness', broken), 'IMAGE_DECODE_FAILED')
  const several = { ...broken, images: broken.images.with(0, damaged).with(3, damaged) }
  const { errors } = (await client.call('svc.liveness', several)).body
  assert.deepEqual(
    errors.map(({ imageIndex }: { imageIndex: number }) => imageIndex),
    [0, 1, 3],
  )
  const { body } = await client.call('svc.liveness', {
    ...answer,
    images: answer.images.slice(0, -1),
  })
  assert.equal(body.errors[0].code, 'INVALID_REQUEST')
  assert.match(body.errors[0].message, /3 steps takes 4 to 10 images, not 3$/u)
  assert.equal((await client.value('svc.liveness', answer)).decision, 'live')
})

test('An unknown, foreign, ended or expired session has one text', async () => {
  const [client, owner] = [await createProject(), await createProject()]
  const spent = await createSession(client)
  await client.value('svc.liveness', answerOf(spent))
  const foreign = await createSession(owner)
  const expired = await createSession(client)
  const lasting = await createSession(client)
  clock.nowMs += 119_999
  assert.equal((await client.value('svc.liveness', answerOf(lasting))).decision, 'live')
  clock.nowMs += 1
  const unknown = { ...spent, livenessSessionId: randomUUID() }
  const count = service.gallery.vision.requests.length
  const errors = await Promise.all(
    [unknown, foreign, spent, expired].map(
      async (challenge) => (await client.call('svc.liveness', answerOf(challenge))).body.errors,
    ),
  )
  assert.equal(errors[0][0].code, 'LIVENESS_SESSION_NOT_FOUND')
  for (const error of errors) assert.deepEqual(error, errors[0])
  assert.equal(service.gallery.vision.requests.length, count, 'no image was analyzed')
  const reads = await Promise.all([unknown, foreign].map((session) => readSession(client, session)))
  for (const { status, body } of reads) assert.deepEqual([status, body], [404, reads[0]?.body])
  assert.equal((await readSession(client, expired)).body.state, 'expired')
})

test('A retry with the same requestId returns the same response', async () => {
  const client = await createProject()
  const requestId = randomUUID()
  const params = answerOf(await createSession(client))
  const first = await client.call('svc.liveness', params, { requestId })
  const second = await client.call('svc.liveness', params, { requestId })
  assert.deepEqual(second.body, { ...first.body, meta: { idempotencyReplay: true } })
  const billed = (await loggedCalls(client)).filter(({ transferId }) => transferId !== null)
  assert.deepEqual(
    billed.map(({ costMicros }) => costMicros),
    [2000n],
  )
})
