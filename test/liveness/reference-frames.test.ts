import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { runAsAllAccounts } from '../../src/lib/account-context.ts'
import { frameImages } from '../support/gallery/challenge-frames.ts'
import {
  answerOf,
  createSession,
  proveLiveness,
  useChallengeGallery,
} from '../support/gallery/challenge-gallery.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'

const service = useChallengeGallery()
const { clock, createProject, loggedCalls } = service

test('The reference frame replaces an image once, in every action that can require liveness', async () => {
  const client = await createProject()
  const { subjectId } = await client.value('svc.enroll', imageParams('Ada'))
  const calls = [
    ['svc.identify', {}],
    ['svc.verify', { subjectId }],
    ['svc.updateSubject', { subjectId }],
    ['svc.enroll', { subjectId }],
  ] as const
  for (const [index, [action, more]] of calls.entries()) {
    // A passive network gives no decision for this person: only the session proves liveness.
    const person = { take: 20 + index, deviation: 0.2, liveness: { score: 0.45 } }
    const livenessSessionId = await proveLiveness(client, person)
    await client.value(action, { ...more, livenessSessionId, requireLiveness: true })
    const { body } = await client.call(action, { ...more, livenessSessionId })
    assert.equal(body.errors[0].code, 'LIVENESS_FAILED', action)
    assert.match(body.errors[0].message, /unknown, was not passed, was used/u)
  }
  const images = frameImages([[{ name: 'Ada', take: 4, deviation: 0.3 }]])
  const livenessSessionId = await proveLiveness(client)
  const pair = { images, livenessSessionId }
  assert.equal((await client.value('svc.verify', pair)).matched, true)
  assert.equal(await client.code('svc.verify', pair), 'LIVENESS_FAILED')
})

test('A call with a session costs as much as a call with an image', async () => {
  const client = await createProject()
  const livenessSessionId = await proveLiveness(client)
  const { body } = await client.call('svc.enroll', { livenessSessionId })
  assert.equal(body.ok, true, JSON.stringify(body))
  const row = (await loggedCalls(client)).find(({ action }) => action === 'svc.enroll')
  assert.equal(row?.costMicros, 2000n)
})

test('A failed call does not spend the frame, and images beside it are refused', async () => {
  const client = await createProject()
  const livenessSessionId = await proveLiveness(client)
  const unknown = { livenessSessionId, subjectId: randomUUID() }
  assert.equal(await client.code('svc.enroll', unknown), 'SUBJECT_NOT_FOUND')
  const invalid = { livenessSessionId: randomUUID(), displayName: 5 }
  assert.equal(await client.code('svc.enroll', invalid), 'INVALID_REQUEST', 'checked first')
  const beside = { ...imageParams('Bea'), livenessSessionId }
  const { body } = await client.call('svc.enroll', beside)
  assert.equal(body.errors[0].code, 'INVALID_REQUEST')
  assert.match(body.errors[0].message, /^params\.images: must be absent/u)
  await client.value('svc.enroll', { livenessSessionId })
})

test('A frame of another project, of an open session and an expired one are refused with one text', async () => {
  const [client, owner] = [await createProject(), await createProject()]
  const foreign = await proveLiveness(owner)
  const { livenessSessionId: open } = await createSession(client)
  const [lasting, expired] = [await proveLiveness(client), await proveLiveness(client)]
  const enroll = (livenessSessionId: string) => client.call('svc.enroll', { livenessSessionId })
  clock.nowMs += 899_999
  assert.equal((await enroll(lasting)).body.ok, true)
  clock.nowMs += 1
  const ids = ['unknown', foreign, open, expired]
  const errors = await Promise.all(ids.map(async (id) => (await enroll(id)).body.errors))
  for (const error of errors) assert.deepEqual(error, errors[0])
  assert.equal(errors[0]?.[0].code, 'LIVENESS_FAILED')
})

test('The server reads the reference frame until a call has used it', async () => {
  const client = await createProject()
  const livenessSessionId = await proveLiveness(client)
  const read = async (query = '') =>
    (await client.rest('GET', `/v1/liveness/sessions/${livenessSessionId}${query}`)).body
  assert.equal((await read()).referenceFrame, null)
  const { contentType, bytes } = (await read('?referenceFrame=true')).referenceFrame
  assert.equal(contentType, 'image/jpeg')
  const [sent] = frameImages([[{ name: 'Ada' }]]) as { bytes: string }[]
  assert.equal(bytes, sent?.bytes)
  await client.value('svc.enroll', { livenessSessionId })
  assert.equal((await read('?referenceFrame=true')).referenceFrame, null)
})

test('A server reads two reference frames of an account at a time, and sessions without them meanwhile', async (t) => {
  const client = await createProject()
  const path = `/v1/liveness/sessions/${await proveLiveness(client)}`
  const sessions = service.gallery.openedGallery.livenessSessions
  const { readFrame } = sessions
  let [running, mostRunning] = [0, 0]
  t.mock.method(sessions, 'readFrame', async (...parameters: Parameters<typeof readFrame>) => {
    mostRunning = Math.max(mostRunning, ++running)
    assert.equal((await client.rest('GET', path)).status, 200)
    running -= 1
    return readFrame(...parameters)
  })
  const read = () => client.rest('GET', `${path}?referenceFrame=true`)
  const responses = await Promise.all(Array.from({ length: 5 }, read))
  for (const { body } of responses) assert.equal(body.referenceFrame.contentType, 'image/jpeg')
  assert.equal(mostRunning, 2)
})

test('The database contains no frame in plain text, and the sweep deletes expired rows', async () => {
  const client = await createProject()
  await proveLiveness(client)
  await createSession(client)
  const { db } = service.gallery.database.store
  const { projectId } = client.project
  const rowsOf = (table: 'livenessSessions' | 'livenessFrames' | 'livenessChallenges') =>
    db.selectFrom(table).select('projectId').where('projectId', '=', projectId).execute()
  const stored = db.selectFrom('livenessFrames').select('frame').where('projectId', '=', projectId)
  const frame = Buffer.from((await stored.executeTakeFirstOrThrow()).frame)
  assert.ok(!frame.toString('latin1').includes('Ada') && !frame.toString('latin1').includes('jpeg'))
  const sweep = () => runAsAllAccounts(() => service.gallery.openedGallery.livenessSessions.sweep())
  const sweptCounts = async () => {
    await sweep()
    const tables = ['livenessSessions', 'livenessFrames', 'livenessChallenges'] as const
    return Promise.all(tables.map(async (table) => (await rowsOf(table)).length))
  }
  clock.nowMs += 179_999
  assert.deepEqual(await sweptCounts(), [2, 1, 2])
  clock.nowMs += 1
  assert.deepEqual(await sweptCounts(), [2, 1, 0])
  clock.nowMs += 900_000
  assert.deepEqual(await sweptCounts(), [0, 0, 0])
})

test('Of concurrent calls, exactly one uses an attempt, and exactly one uses a reference frame', async () => {
  const client = await createProject()
  const params = answerOf(await createSession(client))
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => client.call('svc.liveness', params)),
  )
  assert.equal(answers.filter(({ body }) => body.ok).length, 1)
  const { livenessSessionId } = params
  const used = await Promise.all(
    Array.from({ length: 20 }, () => client.call('svc.enroll', { livenessSessionId })),
  )
  const codes = used.map(({ body }) => body.errors[0]?.code ?? 'OK')
  assert.equal(codes.filter((code) => code === 'OK').length, 1)
  assert.equal(codes.filter((code) => code === 'LIVENESS_FAILED').length, 19)
})
