import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { callLog } from '../../../src/cli/call-log/commands.ts'
import { createLineRunner } from '../../support/cli/run-json.ts'
import { assertOk, startConsole, type TestConsole } from '../../support/console/test-console.ts'
import { answerOf, createSession, wrongAnswerOf } from '../../support/gallery/challenge-gallery.ts'
import { fakeImage, type FakePerson } from '../../support/gallery/fake-vision.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

let testConsole: TestConsole
let subjectIds: readonly string[]
before(async () => {
  testConsole = await startConsole({ environment: { COMPREFACE_API: 'on' } })
  subjectIds = await Promise.all(
    ['Ada', 'Bob'].map(async (name) => {
      const params = { ...imageParams({ name, take: 1 }), externalId: `${name}-id` }
      return (await testConsole.gallery.value('svc.enroll', params)).subjectId
    }),
  )
})
after(() => testConsole[Symbol.asyncDispose]())

const { runForLines } = createLineRunner([callLog], () => testConsole.gallery.dataDir)

const ada: FakePerson = { name: 'Ada', deviation: 1, take: 2, quality: 66 }

const imageOf = (person: FakePerson) => {
  const { bytes, contentType } = fakeImage(person)
  return { kind: 'image', bytes: bytes.toString('base64'), contentType }
}

const list = async (query: string) =>
  assertOk(await testConsole.owner.get(`/log?${query}`)).body.items

/** Sends a call and returns its row in the log. */
async function rowOf(action: string, params: object, requestId: string = randomUUID()) {
  await testConsole.gallery.call(action, params, { requestId })
  const [row] = await list(`requestId=${requestId}`)
  return row
}

const decisionOf = ({
  outcome,
  similarity,
  livenessScore,
  threshold,
  margin,
  quality,
  reason,
  nearMiss,
}: Readonly<Record<string, unknown>>) => ({
  outcome,
  similarity,
  livenessScore,
  threshold,
  margin,
  quality,
  reason,
  nearMiss,
})

const none = {
  outcome: null,
  similarity: null,
  livenessScore: null,
  threshold: null,
  margin: null,
  quality: null,
  reason: null,
  nearMiss: false,
}

const similarityOf = async (person: FakePerson): Promise<number> => {
  const params = { ...imageParams(person), subjectId: subjectIds[0] }
  return (await testConsole.gallery.value('svc.verify', params)).similarity
}

test('An identification logs match or no match with the margin to the next subject', async () => {
  const similarity = await similarityOf(ada)
  const debugged = await testConsole.gallery.value('svc.identify', {
    ...imageParams(ada),
    threshold: 0,
  })
  const [best, next] = debugged.faces[0].candidates
  assert.equal(best.similarity, similarity)
  const margin = Math.round((best.similarity - next.similarity) * 1e4) / 1e4
  const expected = { ...none, similarity, margin, quality: 66 }
  for (const params of [{}, { maxCandidates: 1 }]) {
    const row = await rowOf('svc.identify', { ...imageParams(ada), ...params })
    assert.deepEqual(decisionOf(row), { ...expected, outcome: 'match', threshold: 0.8 })
  }
  const threshold = Math.round((similarity + 0.03) * 1e4) / 1e4
  const near = await rowOf('svc.identify', { ...imageParams(ada), threshold })
  const missed = { ...expected, outcome: 'no_match', threshold }
  assert.deepEqual(decisionOf(near), { ...missed, nearMiss: true })
  const unenrolled = await rowOf('svc.identify', imageParams({ name: 'Eve', quality: 66 }))
  assert.equal(unenrolled.outcome, 'no_match')
  assert.equal(unenrolled.nearMiss, false)
})

test('A search for several faces, images or a stored face logs the best face', async () => {
  const people = [{ name: 'Eve' }, ada, { name: 'Rob' }]
  const faces = await rowOf('svc.identify', { ...imageParams(...people), maxFaces: 3 })
  assert.deepEqual([faces.outcome, faces.quality], ['match', 66])
  const images = [imageOf({ name: 'Eve' }), imageOf(ada)]
  const batch = await rowOf('svc.identify', { images })
  assert.deepEqual([batch.outcome, batch.quality], ['match', 66])
  const stored = await rowOf('svc.identify', { subjectId: subjectIds[0] })
  assert.deepEqual([stored.outcome, stored.quality], ['no_match', null])
})

test('A verification logs its similarity, in both modes', async () => {
  const similarity = await similarityOf(ada)
  const sent = { ...imageParams(ada), subjectId: subjectIds[0] }
  const expected = { ...none, similarity, threshold: 0.8, quality: 66 }
  assert.deepEqual(decisionOf(await rowOf('svc.verify', sent)), { ...expected, outcome: 'match' })
  const images = [imageOf(ada), imageOf({ name: 'Bob' })]
  const other = await rowOf('svc.verify', { images })
  assert.deepEqual([other.outcome, other.quality, other.threshold], ['no_match', 66, 0.8])
})

test('A liveness check logs live, spoof or uncertain with its reason; a challenge passed or failed', async () => {
  const check = async (person: Partial<FakePerson>) => {
    const row = await rowOf('svc.liveness', imageParams({ ...ada, ...person }))
    return [row.outcome, row.livenessScore, row.threshold, row.reason, row.nearMiss]
  }
  assert.deepEqual(await check({}), ['live', 0.99, 0.5, null, false])
  assert.deepEqual(await check({ liveness: { score: 0.2 } }), ['spoof', 0.2, 0.5, null, false])
  assert.deepEqual(await check({ liveness: { score: 0.45 } }), [
    'uncertain',
    0.45,
    0.5,
    'INCONCLUSIVE',
    true,
  ])
  assert.deepEqual((await check({ quality: 20, yaw: 50 })).slice(0, 4), [
    'uncertain',
    0.99,
    0.5,
    'EXTREME_POSE,LOW_QUALITY',
  ])
  const passed = await rowOf('svc.liveness', answerOf(await createSession(testConsole.gallery)))
  assert.deepEqual([passed.outcome, passed.reason], ['passed', null])
  const wrong = wrongAnswerOf(await createSession(testConsole.gallery))
  const failed = await rowOf('svc.liveness', wrong)
  assert.deepEqual([failed.outcome, failed.reason], ['failed', 'CHALLENGE_NOT_FOLLOWED'])
})

test('A call of the CompreFace routes has an outcome too', async () => {
  const form = new FormData()
  form.append('file', new Blob([Buffer.from(fakeImage(ada).bytes)]), 'a.jpg')
  const response = await fetch(`${testConsole.url}/api/v1/recognition/recognize`, {
    method: 'POST',
    headers: { 'x-api-key': testConsole.gallery.key },
    body: form,
  })
  assert.equal(response.status, 200, await response.text())
  const [row] = await list('action=svc.identify&limit=1')
  assert.deepEqual([row.outcome, row.similarity], ['match', await similarityOf(ada)])
})

test('Failed calls, other actions and replays have no outcome; a replay keeps the logged one', async () => {
  assert.deepEqual(decisionOf(await rowOf('svc.identify', imageParams())), none)
  assert.deepEqual(decisionOf(await rowOf('svc.detect', imageParams(ada))), none)
  const requestId = randomUUID()
  const first = await rowOf('svc.identify', imageParams(ada), requestId)
  await testConsole.gallery.call('svc.identify', imageParams(ada), { requestId })
  const [replay, logged] = await list(`requestId=${requestId}`)
  assert.equal(replay.isReplay, true)
  assert.deepEqual(decisionOf(replay), none)
  assert.deepEqual(logged, first)
})

test('The log, its CSV and the command line filter by outcome and near miss', async () => {
  const all: readonly Record<string, unknown>[] = await list('limit=200')
  const idsOf = (rows: readonly Record<string, unknown>[]) => rows.map(({ requestId }) => requestId)
  for (const outcome of ['match', 'no_match', 'spoof', 'uncertain', 'passed']) {
    const expected = idsOf(all.filter((row) => row['outcome'] === outcome))
    assert.ok(expected.length > 0, outcome)
    assert.deepEqual(idsOf(await list(`limit=200&outcome=${outcome}`)), expected)
  }
  const near = all.filter((row) => row['nearMiss'] && row['outcome'] === 'no_match')
  assert.equal(near.length, 1)
  const filter = 'outcome=no_match&nearMiss=true'
  assert.deepEqual(idsOf(await list(filter)), idsOf(near))
  assert.equal((await list('limit=200&nearMiss=false')).length, all.length - 2)
  const { text } = assertOk(await testConsole.owner.get(`/log.csv?${filter}`))
  const [head = '', line = '', ...others] = text.trim().split('\r\n')
  assert.deepEqual(others, [])
  assert.match(head, /outcome,similarity,livenessScore,threshold,margin,quality,reason,nearMiss/u)
  assert.match(line, /no_match,0\.\d+,,0\.\d+,0\.\d+,66,,true/u)
  assert.equal((await testConsole.owner.get('/log?outcome=maybe')).status, 422)
  const [printed = '', ...more] = await runForLines('log --outcome no_match --near-miss --json')
  assert.deepEqual(more, [])
  const entry = JSON.parse(printed)
  const [expected] = near
  assert.deepEqual(decisionOf(entry), decisionOf(expected ?? {}))
  assert.equal(entry.requestId, expected?.['requestId'])
  assert.match((await runForLines('log --near-miss')).join('\n'), /uncertain +0\.45/u)
})

test('The chart of calls counts each outcome as the log does', async () => {
  const { series } = assertOk(await testConsole.owner.get('/analytics/calls?by=outcome')).body
  const logged = (await list('limit=200')).filter(({ outcome }: LoggedRow) => outcome !== null)
  const expected = Map.groupBy(logged, ({ outcome }: LoggedRow) => outcome)
  assert.deepEqual(
    new Map(series.map(({ id, total }: Readonly<Record<string, unknown>>) => [id, total])),
    new Map([...expected].map(([outcome, rows]) => [outcome, rows.length])),
  )
})

type LoggedRow = { readonly outcome: string | null }

test('No row of the log names a subject', async () => {
  const rows = await testConsole.gallery.database.store.db.selectFrom('calls').selectAll().execute()
  const text = JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const secret of [...subjectIds, 'Ada', 'Bob', 'Ada-id']) assert.ok(!text.includes(secret))
})
