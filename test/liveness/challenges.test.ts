import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import type { ChallengeStep } from '../../src/vision/liveness/challenge/challenge.ts'
import { readCalls } from '../../src/store/gate/calls.ts'
import { frameImages, framesOf } from '../support/gallery/challenge-frames.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'

const failuresMax = 3
const openMax = 4

let nowMs = Date.now()
let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    clock: () => nowMs,
    environment: {
      LIVENESS_FAILURES_PER_MINUTE_MAX: String(failuresMax),
      LIVENESS_CHALLENGES_OPEN_MAX: String(openMax),
    },
  })
})
after(() => gallery[Symbol.asyncDispose]())

const createProject = (permissions: readonly string[] = ['*']) =>
  gallery.createProjectClient({ galleryMode: 'isolated', permissions })

type CreatedChallenge = { readonly challengeId: string; readonly steps: ChallengeStep[] }

async function createChallenge(client: GalleryClient, body: object = {}) {
  const response = await client.rest('POST', '/v1/liveness/challenges', body)
  assert.equal(response.status, 200, JSON.stringify(response.body))
  return response.body as CreatedChallenge & Record<string, unknown>
}

const answerOf = ({ challengeId, steps }: CreatedChallenge, person: Partial<FakePerson> = {}) => ({
  challengeId,
  images: frameImages(framesOf(steps, person)),
})

/** A response in the wrong order. */
const wrongAnswerOf = ({ challengeId, steps }: CreatedChallenge) =>
  answerOf({ challengeId, steps: steps.toReversed().concat(steps.slice(0, 1)).slice(1) })

/** Passes a challenge. @returns the token. */
async function proveLiveness(
  client: GalleryClient,
  person: Partial<FakePerson> = {},
): Promise<string> {
  const value = await client.value('svc.liveness', answerOf(await createChallenge(client), person))
  assert.deepEqual([value.decision, value.reasons], ['live', []])
  return value.livenessToken
}

const loggedCalls = (client: { readonly project: { readonly projectId: string } }) =>
  gallery.database.store.read((tx) =>
    readCalls(tx, { projectId: client.project.projectId, limit: 50 }),
  )

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
  assert.equal(challenge['expiresAtUtc'], new Date(nowMs + 120_000).toISOString())
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
    [{ steps: 1 }, /^steps: /u],
    [{ steps: 5 }, /^steps: /u],
    [{ steps: 2.5 }, /^steps: /u],
    [{ count: 3 }, /^unknown field count$/u],
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
  nowMs += 119_999
  assert.equal((await client.value('svc.liveness', answerOf(lasting))).decision, 'live')
  nowMs += 1
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

test(`After ${failuresMax} failures within a minute, challenges are refused until the oldest is a minute old`, async () => {
  const client = await createProject()
  const [kept, ...failing] = [
    await createChallenge(client),
    await createChallenge(client),
    await createChallenge(client),
  ]
  for (const challenge of failing) {
    await client.value('svc.liveness', wrongAnswerOf(challenge))
    nowMs += 1000
  }
  await client.value('svc.liveness', wrongAnswerOf(await createChallenge(client)))
  const refused = await client.rest('POST', '/v1/liveness/challenges', {})
  assert.equal(refused.status, 429)
  assert.equal(refused.headers.get('retry-after'), '58')
  assert.match(refused.body.detail, /failed within 60 s; wait 58 s/u)
  const other = await createProject()
  assert.equal((await other.rest('POST', '/v1/liveness/challenges', {})).status, 200)
  const requestId = randomUUID()
  const count = gallery.vision.requests.length
  const limited = await client.call('svc.liveness', answerOf(kept), { requestId })
  assert.equal(limited.body.errors[0].code, 'RATE_LIMITED')
  assert.equal(limited.headers.get('retry-after'), '58')
  assert.equal(gallery.vision.requests.length, count, 'no image was analyzed')
  nowMs += 57_999
  assert.equal((await client.rest('POST', '/v1/liveness/challenges', {})).status, 429)
  nowMs += 1
  assert.equal((await client.rest('POST', '/v1/liveness/challenges', {})).status, 200)
  const retried = await client.call('svc.liveness', answerOf(kept), { requestId })
  assert.equal(retried.body.ok, true, 'the refused call was not stored, so that its retry runs')
  assert.equal(retried.body.data.results[0].value.decision, 'live')
})

test(`Of concurrent guesses, ${failuresMax} are judged, and the others leave their challenges unspent`, async () => {
  const client = await createProject()
  const challenges: CreatedChallenge[] = []
  for (let index = 0; index < openMax; index++) challenges.push(await createChallenge(client))
  const guesses = await Promise.all(
    challenges.map((challenge) => client.call('svc.liveness', wrongAnswerOf(challenge))),
  )
  const codes = guesses.map(({ body }) => String(body.errors[0]?.code ?? 'OK'))
  assert.deepEqual(codes.toSorted(), ['OK', 'OK', 'OK', 'RATE_LIMITED'])
  const logged = (await loggedCalls(client)).map(({ code, costMicros }) => `${code} ${costMicros}`)
  assert.equal(logged.filter((row) => row === 'RATE_LIMITED 0').length, 1)
  const refused = challenges[codes.indexOf('RATE_LIMITED')]
  assert.ok(refused)
  nowMs += 60_000
  assert.equal((await client.value('svc.liveness', answerOf(refused))).decision, 'live')
})

test(`A project has at most ${openMax} open challenges`, async () => {
  const client = await createProject()
  const challenges: CreatedChallenge[] = []
  for (let index = 0; index < openMax; index++) challenges.push(await createChallenge(client))
  const refused = await client.rest('POST', '/v1/liveness/challenges', {})
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.match(refused.body.detail, /4 open liveness challenges/u)
  const [first] = challenges
  assert.ok(first)
  await client.value('svc.liveness', answerOf(first))
  await createChallenge(client)
  assert.equal((await client.rest('POST', '/v1/liveness/challenges', {})).status, 429)
  nowMs += 120_000
  await createChallenge(client)
})

/** A person for whose picture the passive networks give no decision. */
const uncertainAda: FakePerson = { name: 'Ada', take: 9, deviation: 0.3, liveness: { score: 0.45 } }
const required = { ...imageParams(uncertainAda), requireLiveness: true }

test('A token replaces the passive check once, in every action that can require liveness', async () => {
  const client = await createProject()
  const { subjectId } = await client.value('svc.enroll', imageParams('Ada'))
  const calls = [
    ['svc.enroll', {}],
    ['svc.updateSubject', { subjectId }],
    ['svc.verify', { subjectId }],
    ['svc.identify', {}],
  ] as const
  for (const [action, more] of calls) {
    const params = { ...required, ...more }
    assert.equal(await client.code(action, params), 'LIVENESS_FAILED', action)
    const livenessToken = await proveLiveness(client)
    await client.value(action, { ...params, livenessToken })
    const { body } = await client.call(action, { ...params, livenessToken })
    assert.equal(body.errors[0].code, 'LIVENESS_FAILED', action)
    assert.match(body.errors[0].message, /unknown, was used, has expired/u)
  }
  const images = frameImages([[uncertainAda], [{ name: 'Ada', take: 4, deviation: 0.3 }]])
  const livenessToken = await proveLiveness(client)
  const pair = { images, requireLiveness: true, livenessToken }
  assert.equal((await client.value('svc.verify', pair)).matched, true)
  assert.equal(await client.code('svc.verify', pair), 'LIVENESS_FAILED')
})

test('A token is only for the person who passed the challenge, and a failed call does not spend it', async () => {
  const client = await createProject()
  const livenessToken = await proveLiveness(client)
  const bea = { ...imageParams('Bea'), requireLiveness: true, livenessToken }
  const { body } = await client.call('svc.enroll', bea)
  assert.equal(body.errors[0].code, 'LIVENESS_FAILED')
  assert.match(body.errors[0].message, /not that of the person .*similarity 0\.\d\d, below 0\.80/u)
  const unknown = { ...required, livenessToken, subjectId: randomUUID() }
  assert.equal(await client.code('svc.enroll', unknown), 'SUBJECT_NOT_FOUND')
  const crowd = { ...imageParams(uncertainAda, { name: 'Bea', side: 150 }), requireLiveness: true }
  const found = await client.value('svc.identify', { ...crowd, livenessToken, maxFaces: 5 })
  assert.equal(found.faces.length, 1, 'the other face is not live')
})

test('A token of another project, an expired one and one that is not used are rejected', async () => {
  const [client, owner] = [await createProject(), await createProject()]
  const foreign = await proveLiveness(owner)
  const [lasting, expired] = [await proveLiveness(client), await proveLiveness(client)]
  const enroll = (livenessToken: string) =>
    client.call('svc.enroll', { ...required, livenessToken })
  nowMs += 299_999
  assert.equal((await enroll(lasting)).body.ok, true)
  nowMs += 1
  const errors = [await enroll('flt_unknown'), await enroll(foreign), await enroll(expired)]
  for (const { body } of errors) assert.deepEqual(body.errors, errors[0]?.body.errors)
  assert.equal(errors[0]?.body.errors[0].code, 'LIVENESS_FAILED')
  const { subjectId } = await client.value('svc.enroll', imageParams('Bea'))
  const livenessToken = await proveLiveness(client)
  for (const [action, params, message] of [
    ['svc.enroll', { ...imageParams('Ada'), livenessToken }, /send requireLiveness true/u],
    ['svc.updateSubject', { subjectId, requireLiveness: true, livenessToken }, /send images/u],
  ] as const) {
    const { body } = await client.call(action, params)
    assert.equal(body.errors[0].code, 'INVALID_REQUEST')
    assert.match(body.errors[0].message, message)
  }
})

test('A batch of images spends its token if one of them succeeds', async () => {
  const client = await createProject()
  const images = (...people: FakePerson[]) => frameImages(people.map((person) => [person]))
  const livenessToken = await proveLiveness(client)
  const search = (list: object[]) =>
    client.call('svc.identify', { images: list, requireLiveness: true, livenessToken })
  const failed = await search(images({ name: 'Bea' }, { name: 'Cem' }))
  assert.deepEqual(
    failed.body.errors.map(({ code }: { code: string }) => code),
    ['LIVENESS_FAILED', 'LIVENESS_FAILED'],
  )
  const mixed = await search(images({ name: 'Bea' }, uncertainAda))
  assert.deepEqual(
    mixed.body.data.results.map(({ ok }: { ok: boolean }) => ok),
    [false, true],
  )
  assert.equal((await search(images(uncertainAda))).body.ok, false)
})

test('The database contains no token and no template of it, and the sweep deletes expired rows', async () => {
  const client = await createProject()
  const livenessToken = await proveLiveness(client)
  await createChallenge(client)
  const { db } = gallery.database.store
  const { projectId } = client.project
  const rows = () =>
    db.selectFrom('livenessTokens').selectAll().where('projectId', '=', projectId).execute()
  const [row] = await rows()
  assert.ok(row)
  const stored = Buffer.concat([row.tokenHash, row.sealed])
  assert.ok(!stored.includes(livenessToken) && !stored.includes(livenessToken.slice(4, 20)))
  const challenges = () =>
    db.selectFrom('livenessChallenges').selectAll().where('projectId', '=', projectId).execute()
  const sweep = () => runAsAllAccounts(() => gallery.openedGallery.challenges.sweep())
  nowMs += 179_999
  await sweep()
  assert.deepEqual([(await rows()).length, (await challenges()).length], [1, 2])
  nowMs += 1
  await sweep()
  assert.deepEqual([(await rows()).length, (await challenges()).length], [1, 0])
  nowMs += 120_000
  await sweep()
  assert.deepEqual(await rows(), [])
})

test('Of concurrent calls, exactly one uses a challenge, and exactly one uses a token', async () => {
  const client = await createProject()
  const params = answerOf(await createChallenge(client))
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.call('svc.liveness', params)),
  )
  const tokens = answers.flatMap(({ body }) =>
    body.ok ? [body.data.results[0].value.livenessToken] : [],
  )
  assert.equal(tokens.length, 1)
  const used = await Promise.all(
    Array.from({ length: 20 }, () =>
      client.call('svc.identify', { ...required, livenessToken: tokens[0] }),
    ),
  )
  const codes = used.map(({ body }) => body.errors[0]?.code ?? 'OK')
  assert.equal(codes.filter((code) => code === 'OK').length, 1)
  assert.equal(codes.filter((code) => code === 'LIVENESS_FAILED').length, 19)
})
