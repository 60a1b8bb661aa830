import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  assertOk,
  startConsole,
  type ConsoleClient,
  type TestConsole,
} from '../../support/console/test-console.ts'
import { enrollPerson, identify, pictureOf, sendFeedback } from '../../support/gallery/feedback.ts'

const windowMs = 60_000

let nowMs = Date.now()
let testConsole: TestConsole
let viewer: ConsoleClient
before(async () => {
  const environment = { REPLAY_WINDOW_MS: String(windowMs) }
  testConsole = await startConsole({ clock: () => nowMs, environment })
  viewer = await testConsole.inviteMember('viewer')
})
after(() => testConsole?.[Symbol.asyncDispose]())

/** Moves the clock, so that a period from now on contains only later calls. */
function startPeriod(): string {
  nowMs += 2 * windowMs
  return new Date(nowMs).toISOString()
}

async function switchFeedback(isOn: boolean): Promise<void> {
  const { owner, projectId } = testConsole
  const change = { switches: { feedback: isOn } }
  assertOk(await owner.send('PATCH', `/projects/${projectId}`, change))
}

/** Returns the newest call with this request id. */
async function callOf(requestId: string, client = testConsole.owner) {
  const { items } = assertOk(await client.get(`/log?requestId=${requestId}`)).body
  return assertOk(await client.get(`/log/${items[0].callId}`)).body
}

type MatchPosition = { readonly resultIndex?: number; readonly faceIndex?: number }

async function decide(
  requestId: string,
  subjectId: string,
  verdict: 'confirmed' | 'denied',
  {
    client = testConsole.owner,
    resultIndex = 0,
    faceIndex = 0,
  }: MatchPosition & {
    readonly client?: ConsoleClient
  } = {},
) {
  const { callId } = await callOf(requestId)
  const body = { subjectId, resultIndex, faceIndex, verdict }
  return client.send('POST', `/log/${callId}/verdict`, body)
}

async function lastAuditEntry() {
  return assertOk(await testConsole.owner.get('/audit?limit=1')).body.items[0]
}

test('A match is shown with its person, denied and confirmed, with one audit entry for each change', async () => {
  await switchFeedback(true)
  const { gallery, projectId } = testConsole
  const fields = { displayName: 'Ann Berg', externalId: 'ann-1', groups: ['ann'] }
  const ann = await enrollPerson(gallery, 'Ann', fields)
  const ofAnn = { groups: ['ann'] }
  const { requestId } = await identify(gallery, { ...pictureOf('Bea', 0), ...ofAnn })
  const shown = {
    resultIndex: 0,
    faceIndex: 0,
    subjectId: ann,
    displayName: 'Ann Berg',
    externalId: 'ann-1',
    verdict: null,
  }
  const feedback = { matches: [shown], absence: null }
  assert.deepEqual((await callOf(requestId)).feedback, feedback)
  assert.deepEqual((await callOf(requestId, viewer)).feedback, feedback, 'a viewer reads it')

  const refused = await decide(requestId, ann, 'denied', { client: viewer })
  assert.equal(refused.status, 403)
  assertOk(await decide(requestId, ann, 'denied'))
  const isMatched = async () =>
    (await identify(gallery, { ...pictureOf('Bea', 1), ...ofAnn })).value.matched
  assert.equal(await isMatched(), false)
  const entry = await lastAuditEntry()
  assert.deepEqual(
    [entry.auditAction, entry.target, entry.detail],
    ['match.decide', requestId, { projectId, verdict: 'denied', resultIndex: 0, faceIndex: 0 }],
  )
  assert.ok(!JSON.stringify(entry).includes(ann), 'no person in the permanent log')
  assert.equal((await callOf(requestId)).feedback.matches[0].verdict, 'denied')

  assertOk(await decide(requestId, ann, 'confirmed'))
  assert.equal(await isMatched(), true, 'a confirmation ends the denial')
  assert.equal((await callOf(requestId)).feedback.matches[0].verdict, 'confirmed')
  const changed = await decide(requestId, ann, 'denied')
  assert.equal(changed.status, 422)
  assert.match(changed.body.detail, /the match was confirmed before/u)
  assert.equal((await lastAuditEntry()).detail.verdict, 'confirmed', 'a refusal adds no entry')
  await gallery.value('svc.deleteSubject', { subjectId: ann })
  assert.deepEqual((await callOf(requestId)).feedback, { matches: [], absence: 'notStored' })
})

test('A call without a match that can be decided states the reason', async () => {
  const { gallery, owner } = testConsole
  await switchFeedback(false)
  const subjectId = await enrollPerson(gallery, 'Cleo')
  const absenceOf = async (requestId: string) => (await callOf(requestId)).feedback.absence
  const off = await identify(gallery, pictureOf('Cleo', 1))
  assert.equal(await absenceOf(off.requestId), 'feedbackIsOff')
  await switchFeedback(true)
  assert.equal(await absenceOf(off.requestId), 'notStored', 'feedback was off at its time')
  const open = await identify(gallery, pictureOf('Cleo', 2))
  assert.equal(await absenceOf(open.requestId), null)
  nowMs += windowMs - 1
  assert.equal((await callOf(open.requestId)).feedback.matches.length, 1, 'the last millisecond')
  nowMs += 1
  assert.equal(await absenceOf(open.requestId), 'windowEnded')
  assert.equal((await decide(open.requestId, subjectId, 'denied')).status, 404)
  const none = await identify(gallery, { ...pictureOf('Zoe', 0), threshold: 0.99 })
  assert.equal(await absenceOf(none.requestId), null, 'a call without a match')
  assert.equal((await owner.send('POST', '/log/999999999/verdict', {})).status, 422)
  const body = { subjectId, resultIndex: 0, faceIndex: 0, verdict: 'denied' }
  assert.equal((await owner.send('POST', '/log/999999999/verdict', body)).status, 404)
  await gallery.value('svc.deleteSubject', { subjectId })
})

test('A later call with the same request id shows its own match only', async () => {
  const { gallery, owner } = testConsole
  const subjectId = await enrollPerson(gallery, 'Dora')
  const { requestId } = await identify(gallery, pictureOf('Dora', 1))
  const { callId } = await callOf(requestId)
  assertOk(await decide(requestId, subjectId, 'confirmed'))
  nowMs += windowMs
  await identify(gallery, pictureOf('Dora', 2), requestId)
  const [newer] = (await callOf(requestId)).feedback.matches
  assert.equal(newer.verdict, null)
  const older = assertOk(await owner.get(`/log/${callId}`)).body
  assert.deepEqual(older.feedback.matches, [])
  await gallery.value('svc.deleteSubject', { subjectId })
})

test('The calls, matches and counts of another account are not found', async () => {
  const { gallery, owner } = testConsole
  const other = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = other.project
  const { db } = gallery.database.store
  await db.updateTable('projects').set({ feedback: 1 }).where('projectId', '=', projectId).execute()
  const subjectId = await enrollPerson(other, 'Eve')
  const { requestId } = await identify(other, pictureOf('Eve', 1))
  const [row] = await db
    .selectFrom('calls')
    .selectAll()
    .where('requestId', '=', requestId)
    .execute()
  const body = { subjectId, resultIndex: 0, faceIndex: 0, verdict: 'confirmed' }
  assert.equal((await owner.get(`/log/${row?.callId}`)).status, 404)
  assert.equal((await owner.send('POST', `/log/${row?.callId}/verdict`, body)).status, 404)
  assert.equal((await sendFeedback(other, { requestId, verdict: 'confirm' })).status, 200)
  const counts = assertOk(await owner.get(`/analytics/feedback?projectId=${projectId}`)).body
  assert.deepEqual(counts, { projects: [], groups: [] })
})

test('Verdicts of a period are counted by project and group, with the false-match rate and its interval', async () => {
  const fromUtc = startPeriod()
  const { gallery, owner, projectId } = testConsole
  const verdicts = [
    ['Gus', ['staff', 'night'], 'confirm', 3],
    ['Hal', ['staff'], 'deny', 1],
    ['Ida', [], 'confirm', 1],
  ] as const
  for (const [name, groups, verdict, times] of verdicts) {
    await enrollPerson(gallery, name, { groups })
    for (let take = 1; take <= times; take++) {
      const { requestId } = await identify(gallery, { ...pictureOf(name, take), threshold: 0.8 })
      assert.equal((await sendFeedback(gallery, { requestId, verdict })).status, 200)
    }
  }
  await identify(gallery, pictureOf('Gus', 9))
  const toUtc = startPeriod()
  const read = async (query: string) =>
    assertOk(await owner.get(`/analytics/feedback?${query}`)).body
  const { projects, groups } = await read(`fromUtc=${fromUtc}&toUtc=${toUtc}`)
  type Row = Readonly<Record<'confirmed' | 'denied', number>> & {
    readonly group?: string | null
    readonly falseMatchRate: Readonly<Record<'observed' | 'low' | 'high', number>>
  }
  const countsOf = (rows: readonly Row[]) =>
    rows.map(({ group, confirmed, denied }) => [group, confirmed, denied])
  assert.deepEqual(countsOf(projects), [[undefined, 4, 1]])
  assert.equal(projects[0].projectId, projectId)
  assert.deepEqual(countsOf(groups), [
    ['staff', 3, 1],
    ['night', 3, 0],
    [null, 1, 0],
  ])
  // The Wilson interval of 1 of 5.
  const { observed, low, high } = projects[0].falseMatchRate
  assert.deepEqual(
    [observed, low, high].map((share: number) => share.toFixed(4)),
    ['0.2000', '0.0362', '0.6245'],
  )
  assert.deepEqual((await read(`projectId=${projectId}&fromUtc=${fromUtc}`)).projects, projects)
  assert.deepEqual(await read(`fromUtc=${toUtc}`), { projects: [], groups: [] })
})
