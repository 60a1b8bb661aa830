import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { frameImages } from '../support/gallery/challenge-frames.ts'
import {
  answerOf,
  createChallenge,
  proveLiveness,
  startChallengeGallery,
  type ChallengeGallery,
} from '../support/gallery/challenge-gallery.ts'
import type { FakePerson } from '../support/gallery/fake-vision.ts'
import { imageParams, type TestGallery } from '../support/gallery/test-gallery.ts'

let service: ChallengeGallery
let clock: ChallengeGallery['clock']
let createProject: ChallengeGallery['createProject']
let gallery: TestGallery
before(async () => {
  service = await startChallengeGallery()
  ;({ clock, createProject, gallery } = service)
})
after(() => service[Symbol.asyncDispose]())

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
  clock.nowMs += 299_999
  assert.equal((await enroll(lasting)).body.ok, true)
  clock.nowMs += 1
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
  const stored = Buffer.concat([row.tokenHash, row.ciphertext]).toString('latin1')
  assert.ok(!stored.includes(livenessToken.slice(4, 20)))
  const challenges = () =>
    db.selectFrom('livenessChallenges').selectAll().where('projectId', '=', projectId).execute()
  const sweep = () => runAsAllAccounts(() => gallery.openedGallery.challenges.sweep())
  clock.nowMs += 179_999
  await sweep()
  assert.deepEqual([(await rows()).length, (await challenges()).length], [1, 2])
  clock.nowMs += 1
  await sweep()
  assert.deepEqual([(await rows()).length, (await challenges()).length], [1, 0])
  clock.nowMs += 120_000
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
