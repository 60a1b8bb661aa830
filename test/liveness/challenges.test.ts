import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { frameImages, framesOf } from '../support/gallery/challenge-frames.ts'
import {
  answerOf,
  createChallenge,
  startChallengeGallery,
  wrongAnswerOf,
  type ChallengeGallery,
} from '../support/gallery/challenge-gallery.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import { type GalleryClient, type TestGallery } from '../support/gallery/test-gallery.ts'

let service: ChallengeGallery
let clock: ChallengeGallery['clock']
let createProject: ChallengeGallery['createProject']
let gallery: TestGallery
let loggedCalls: ChallengeGallery['loggedCalls']
before(async () => {
  service = await startChallengeGallery()
  ;({ clock, createProject, gallery, loggedCalls } = service)
})
after(() => service[Symbol.asyncDispose]())

test('A challenge has random steps: never the same twice in a row, and at least one turn to a side', async () => {
  const client = await createProject()
  const challenge = await createChallenge(client)
  assert.deepEqual(Object.keys(challenge).toSorted(), [
    'challengeId',
    'expiresAtUtc',
    'framesMax',
    'instructions',
    'steps',
  ])
  assert.equal(challenge.steps.length, 3)
  assert.equal(challenge['framesMax'], 10)
  assert.equal(challenge['expiresAtUtc'], new Date(clock.nowMs + 120_000).toISOString())
  const instructions = challenge['instructions'] as Record<string, string>
  for (const step of challenge.steps) assert.match(instructions[step] ?? '', /^[A-Z][a-z ]+\.$/u)
  const drawn = new Set<string>()
  for (const count of [2, 3, 4])
    for (let round = 0; round < 8; round++) {
      const { steps } = await createChallenge(await createProject(), { steps: count })
      assert.equal(steps.length, count)
      assert.ok(steps.every((step, index) => step !== steps[index - 1]))
      assert.ok(steps.some((step) => step.startsWith('turn')))
      drawn.add(steps.join(' '))
    }
  assert.ok(drawn.size > 8, 'the steps are random')
})

test('A request for a challenge is checked, logged and free, and consumes one token of the rate limit', async () => {
  const client = await createProject()
  for (const [body, detail] of [
    [{ steps: 1 }, /^body\.steps: /u],
    [{ steps: 5 }, /^body\.steps: /u],
    [{ steps: 2.5 }, /^body\.steps: /u],
    [{ count: 3 }, /^body\.count: unknown field; the fields are steps/u],
    [[], /must be a JSON object/u],
  ] as const) {
    const { status, body: refusal } = await client.rest('POST', '/v1/liveness/challenges', body)
    assert.equal(status, 400, JSON.stringify(refusal))
    assert.match(refusal.detail, detail)
  }
  const response = await client.rest('POST', '/v1/liveness/challenges', {})
  assert.ok(response.headers.has('ratelimit-remaining') && response.headers.has('x-request-id'))
  const other = await createProject(['svc.detect'])
  assert.equal((await other.rest('POST', '/v1/liveness/challenges', {})).status, 403)
  const textBody = await fetch(`${client.url}/v1/liveness/challenges`, {
    method: 'POST',
    headers: { 'x-api-key': client.key, 'content-type': 'text/plain' },
    body: '{}',
  })
  assert.equal(textBody.status, 415)
  const rows = await loggedCalls(client)
  const codes = rows.map(({ action, code, costMicros }) => `${action} ${code} ${costMicros}`)
  const name = 'POST /v1/liveness/challenges'
  assert.deepEqual(codes.toSorted(), [
    `${name} HTTP_415 0`,
    ...Array.from({ length: 5 }, () => `${name} INVALID_REQUEST 0`),
    `${name} OK 0`,
  ])
})

test('A person who follows the steps is live, whatever the passive networks are uncertain about', async () => {
  const client = await createProject()
  for (const liveness of [{ score: 0.99 }, { score: 0.45 }, { score: 0.01, isBuiltin: true }]) {
    const challenge = await createChallenge(client)
    const value = await client.value('svc.liveness', answerOf(challenge, { liveness }))
    assert.deepEqual([value.decision, value.live, value.reasons], ['live', true, []])
    assert.equal(value.score, liveness.score)
    assert.match(value.livenessToken, /^flt_[\w-]{43}$/u)
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

test('Without challengeId nothing changes: further images are not analyzed, and there is no token', async () => {
  const client = await createProject()
  const images = frameImages(framesOf(['turnLeft']))
  const count = gallery.vision.requests.length
  const value = await client.value('svc.liveness', { images })
  assert.equal(gallery.vision.requests.length, count + 1)
  assert.equal('challenge' in value || 'livenessToken' in value, false)
})

test('A challenge is not passed with steps in another order, another person, a spoof or a poor frame', async () => {
  const steps = async (client: GalleryClient, person: Partial<FakePerson>) =>
    client.value('svc.liveness', answerOf(await createChallenge(client), person))
  const client = await createProject()
  const wrong = await client.value('svc.liveness', wrongAnswerOf(await createChallenge(client)))
  assert.deepEqual([wrong.decision, wrong.reasons], ['uncertain', ['CHALLENGE_NOT_FOLLOWED']])
  assert.equal(wrong.challenge.passed, false)
  const challenge = await createChallenge(client)
  const [frontal, ...others] = framesOf(challenge.steps)
  const swapped = [frontal ?? [], ...others.map(([face]) => [{ ...face, name: 'Bea' }])]
  const { challengeId } = challenge
  const substitute = await client.value('svc.liveness', {
    challengeId,
    images: frameImages(swapped),
  })
  assert.deepEqual([substitute.decision, substitute.reasons], ['uncertain', ['DIFFERENT_PERSON']])
  assert.equal(substitute.challenge.samePerson, false)
  const spoof = await steps(client, { liveness: { score: 0.1 } })
  assert.deepEqual([spoof.decision, spoof.challenge.passed], ['spoof', true])
  const poor = await steps(await createProject(), { quality: 20 })
  assert.deepEqual([poor.decision, poor.reasons], ['uncertain', ['LOW_QUALITY']])
  for (const value of [wrong, substitute, spoof, poor])
    assert.equal(value.live || 'livenessToken' in value, false)
})

test('Frames are compared quickly with the first, and one frame of another person at any place is refused', async () => {
  const client = await createProject()
  const challenge = await createChallenge(client)
  const count = gallery.vision.requests.length
  await client.value('svc.liveness', answerOf(challenge))
  const [first, ...later] = gallery.vision.requests.slice(count)
  assert.deepEqual([first?.templates, first?.samePersonAs], [true, undefined])
  for (const { templates, samePersonAs } of later)
    assert.deepEqual([templates, samePersonAs?.vector.length], ['fast', 256])
  for (const replaced of [1, 2, 3]) {
    const other = await createProject()
    const { challengeId, steps } = await createChallenge(other)
    const frames = framesOf(steps).map((people, index) =>
      index === replaced ? people.map((face) => ({ ...face, name: 'Bea' })) : people,
    )
    const images = frameImages(frames)
    const { live, reasons } = await other.value('svc.liveness', { challengeId, images })
    assert.deepEqual([live, reasons], [false, ['DIFFERENT_PERSON']], `frame ${replaced}`)
  }
})

test('A frame without exactly one face fails the challenge with the index of the image', async () => {
  const faults: readonly (readonly [string, readonly FakePerson[]])[] = [
    ['NO_FACE_FOUND', []],
    ['MULTIPLE_FACES', [{ name: 'Ada' }, { name: 'Bea' }]],
    ['FACE_TOO_SMALL', [{ name: 'Ada', side: 20 }]],
  ]
  const client = await createProject()
  for (const [code, people] of faults) {
    const challenge = await createChallenge(client)
    const frames = framesOf(challenge.steps).with(2, [...people])
    const { challengeId } = challenge
    const { body } = await client.call('svc.liveness', {
      challengeId,
      images: frameImages(frames),
    })
    assert.equal(body.ok, false)
    const [error] = body.errors
    assert.deepEqual([error.code, error.imageIndex], [code, 2])
    assert.match(error.message, /^params\.images\[2\]: /u)
    assert.equal(await client.code('svc.liveness', answerOf(challenge)), 'CHALLENGE_NOT_FOUND')
  }
  const { status } = await client.rest('POST', '/v1/liveness/challenges', {})
  assert.equal(status, 429, 'each of them counts as a failure')
})

test('A call that fails before its frames are judged does not spend the challenge', async () => {
  const client = await createProject()
  const challenge = await createChallenge(client)
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

test('An unknown, foreign, spent or expired challenge has one text', async () => {
  const [client, owner] = [await createProject(), await createProject()]
  const spent = await createChallenge(client)
  await client.value('svc.liveness', answerOf(spent))
  const foreign = await createChallenge(owner)
  const expired = await createChallenge(client)
  const lasting = await createChallenge(client)
  clock.nowMs += 119_999
  assert.equal((await client.value('svc.liveness', answerOf(lasting))).decision, 'live')
  clock.nowMs += 1
  const unknown = { ...spent, challengeId: randomUUID() }
  const count = gallery.vision.requests.length
  const errors = await Promise.all(
    [unknown, foreign, spent, expired].map(
      async (challenge) => (await client.call('svc.liveness', answerOf(challenge))).body.errors,
    ),
  )
  assert.equal(errors[0][0].code, 'CHALLENGE_NOT_FOUND')
  for (const error of errors) assert.deepEqual(error, errors[0])
  assert.equal(gallery.vision.requests.length, count, 'no image was analyzed')
})

test('A retry with the same requestId returns the same response with the same token', async () => {
  const client = await createProject()
  const requestId = randomUUID()
  const params = answerOf(await createChallenge(client))
  const first = await client.call('svc.liveness', params, { requestId })
  const second = await client.call('svc.liveness', params, { requestId })
  assert.ok(first.body.data.results[0].value.livenessToken)
  assert.deepEqual(second.body, { ...first.body, meta: { idempotencyReplay: true } })
  const billed = (await loggedCalls(client)).filter(({ transferId }) => transferId !== null)
  assert.deepEqual(
    billed.map(({ costMicros }) => costMicros),
    [2000n],
  )
})
