import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { feedbackCommands } from '../../../src/cli/subject/commands.ts'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { lowerDeniedHits } from '../../../src/gallery/feedback/denied-faces.ts'
import { denialsPerSubject } from '../../../src/store/gallery/feedback/match-verdicts.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { fakeCalibrations, fakeImage, fakeTemplate } from '../../support/gallery/fake-vision.ts'
import {
  denyMatch,
  enrollPerson,
  identify,
  pictureOf,
  sendFeedback,
} from '../../support/gallery/feedback.ts'
import {
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../../support/gallery/test-gallery.ts'

const windowMs = 60_000

let nowMs = Date.now()
let gallery: TestGallery
before(async () => {
  const environment = { REPLAY_WINDOW_MS: String(windowMs) }
  gallery = await startGallery({ clock: () => nowMs, environment })
})
after(() => gallery[Symbol.asyncDispose]())

/** Creates a project with feedback. */
async function createClient(galleryMode: 'isolated' | 'shared' = 'isolated', accountId?: string) {
  const options = accountId === undefined ? {} : { accountId }
  const client = await gallery.createProjectClient({ galleryMode, ...options })
  await switchFeedback(client.project.projectId, 'on')
  return client
}

const switchFeedback = (projectId: string, state: 'on' | 'off') =>
  runJson(gallery.dataDir, project, `set ${projectId} --feedback ${state}`)

const rowsOf = (client: { readonly project: { readonly projectId: string } }) =>
  gallery.database.store.db
    .selectFrom('matchVerdicts')
    .selectAll()
    .where('projectId', '=', client.project.projectId)
    .orderBy('matchedAtMs')
    .execute()

const similarity = async (client: GalleryClient, picture: object) =>
  (await identify(client, picture)).value.bestMatch?.similarity ?? null

async function refusal(client: GalleryClient, body: object) {
  const { status, body: response } = await sendFeedback(client, body)
  return { status, detail: String(response.detail) }
}

test('A denied person no longer matches the subject; the subject and other subjects match as before', async () => {
  const client = await createClient()
  const ann = await enrollPerson(client, 'Ann')
  const own = await similarity(client, pictureOf('Ann', 1))
  const before = await identify(client, pictureOf('Bea', 0))
  assert.equal(before.value.bestMatch.subjectId, ann)
  const request = { requestId: before.requestId, verdict: 'deny' }
  const { status, body } = await sendFeedback(client, request)
  const { requestId } = before
  assert.deepEqual(
    [status, body],
    [200, { requestId, resultIndex: 0, faceIndex: 0, subjectId: ann, verdict: 'deny' }],
  )
  assert.deepEqual((await sendFeedback(client, request)).body, body, 'a repetition')
  for (const take of [0, 1, 2]) {
    const { value } = await identify(client, pictureOf('Bea', take))
    assert.deepEqual([value.matched, value.bestMatch], [false, null], `take ${take}`)
    const verified = await client.value('svc.verify', {
      ...pictureOf('Bea', take),
      subjectId: ann,
      threshold: 0.3,
    })
    assert.equal(verified.matched, false)
  }
  assert.equal(await similarity(client, pictureOf('Ann', 1)), own)
  const fay = await identify(client, pictureOf('Fay', 0))
  assert.equal(fay.value.bestMatch.subjectId, ann, 'the denial concerns one person')
  const bea = await enrollPerson(client, 'Bea')
  const { value } = await identify(client, pictureOf('Bea', 1))
  assert.deepEqual([value.bestMatch.subjectId, value.faces[0].candidates.length], [bea, 1])
  const stored = await client.value('svc.identify', { subjectId: bea, threshold: 0.3 })
  assert.equal(stored.matched, false, 'the search for a stored face uses the same rule')
})

test('A denial halves the similarity, and the next subject becomes the best one', async () => {
  const client = await createClient()
  const ann = await enrollPerson(client, 'Ann')
  const dan = await enrollPerson(client, 'Dan')
  const all = { ...pictureOf('Bea', 0), threshold: 0, maxCandidates: 1 }
  const first = await identify(client, all)
  const nearest = first.value.bestMatch
  await sendFeedback(client, { requestId: first.requestId, verdict: 'deny' })
  const second = (await identify(client, all)).value.bestMatch
  assert.equal(second.subjectId, nearest.subjectId === ann ? dan : ann)
  const both = (await identify(client, { ...all, maxCandidates: 5 })).value.faces[0].candidates
  assert.deepEqual(
    both.map(({ subjectId }: { subjectId: string }) => subjectId),
    [second.subjectId, nearest.subjectId],
  )
  assert.ok(Math.abs(both[1].similarity - nearest.similarity / 2) <= 1e-4)
})

test('Five denied subjects do not hide the next match of a search for one candidate', async () => {
  const client = await createClient()
  const others = Array.from({ length: 6 }, (_, index) => `Other ${index}`)
  for (const name of others) await enrollPerson(client, name)
  const search = { ...pictureOf('Bea', 0), maxCandidates: 1 }
  const matched = new Set<string>()
  for (const _ of others) {
    const { requestId, value } = await identify(client, search)
    matched.add(value.bestMatch.subjectId)
    await sendFeedback(client, { requestId, verdict: 'deny' })
  }
  assert.equal(matched.size, others.length, 'each search found the next subject')
  assert.equal((await identify(client, search)).value.matched, false)
})

test('A confirmation deletes the template, ends a denial, and cannot be replaced', async () => {
  const client = await createClient()
  const ann = await enrollPerson(client, 'Ann')
  const requestId = await denyMatch(client, pictureOf('Bea', 0))
  assert.equal((await identify(client, pictureOf('Bea', 1))).value.matched, false)
  const confirm = { requestId, subjectId: ann, verdict: 'confirm' }
  assert.equal((await sendFeedback(client, confirm)).status, 200)
  assert.equal((await sendFeedback(client, confirm)).status, 200, 'a repetition')
  assert.equal((await identify(client, pictureOf('Bea', 1))).value.matched, true)
  const rows = (await rowsOf(client)).filter((row) => row.requestId === requestId)
  assert.deepEqual(
    rows.map(({ verdict, ciphertext }) => [verdict, ciphertext]),
    [['confirmed', null]],
  )
  const { status, detail } = await refusal(client, { requestId, verdict: 'deny' })
  assert.equal(status, 400)
  assert.match(detail, /^body\.verdict: the match was confirmed before/u)
})

test('A match can be decided until one millisecond before the end of the replay window, then it is deleted', async () => {
  const client = await createClient()
  await enrollPerson(client, 'Ann')
  const late = await identify(client, pictureOf('Bea', 0))
  const open = await identify(client, pictureOf('Cleo', 0))
  nowMs += windowMs - 1
  const denial = { requestId: late.requestId, verdict: 'deny' }
  assert.equal((await sendFeedback(client, denial)).status, 200)
  nowMs += 1
  const { status, detail } = await refusal(client, { requestId: open.requestId, verdict: 'deny' })
  assert.equal(status, 404)
  assert.match(detail, /no match that can be confirmed or denied.*replay window/u)
  const sweep = () => runAsAllAccounts(() => gallery.openedGallery.maintenance.sweep())
  await sweep()
  const rows = await rowsOf(client)
  assert.deepEqual(
    rows.map(({ requestId, verdict }) => [requestId, verdict]),
    [[late.requestId, 'denied']],
  )
  const change = { requestId: late.requestId, verdict: 'confirm' }
  assert.equal((await sendFeedback(client, change)).status, 200, 'a verdict can change later')
})

test('A call with several matches needs the face, and errors name the faces that matched', async () => {
  const client = await createClient()
  const ann = await enrollPerson(client, 'Ann')
  const ben = await enrollPerson(client, 'Ben')
  const [largest, smaller] = [
    { name: 'Ann', take: 1, side: 300 },
    { name: 'Ben', take: 1, side: 200 },
  ]
  const images = [fakeImage('Cleo'), fakeImage(largest, smaller)].map(({ bytes, contentType }) => ({
    kind: 'image',
    bytes: bytes.toString('base64'),
    contentType,
  }))
  const sent = { images, maxFaces: 5, threshold: 0.8 }
  const { requestId, value } = await identify(client, sent)
  assert.equal(value.matched, false, 'the first picture')
  const missing = await refusal(client, { requestId, verdict: 'deny' })
  assert.match(
    missing.detail,
    /^body\.faceIndex: must select one match; .*resultIndex 1 with faceIndex 0, 1 with faceIndex 1$/u,
  )
  const wrong = { requestId, resultIndex: 0, faceIndex: 0, verdict: 'deny' }
  assert.match((await refusal(client, wrong)).detail, /^body\.resultIndex: must select one match/u)
  const wrongFace = { ...wrong, resultIndex: 1, faceIndex: 2 }
  assert.match(
    (await refusal(client, wrongFace)).detail,
    /^body\.faceIndex: must select one match/u,
  )
  const face = { requestId, faceIndex: 1, verdict: 'confirm' }
  const other = await refusal(client, { ...face, subjectId: ann })
  assert.match(other.detail, /^body\.subjectId: the face matched another subject/u)
  const { body } = await sendFeedback(client, { ...face, subjectId: ben })
  assert.deepEqual([body.resultIndex, body.faceIndex, body.subjectId], [1, 1, ben])
  const unknown = await refusal(client, { requestId: randomUUID(), verdict: 'deny' })
  assert.equal(unknown.status, 404)
})

test('Without the switch nothing is stored, and the error states the remedy; denials stay in effect', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  await enrollPerson(client, 'Ann')
  const { requestId } = await identify(client, pictureOf('Bea', 0))
  assert.deepEqual(await rowsOf(client), [])
  const { status, detail } = await refusal(client, { requestId, verdict: 'deny' })
  assert.equal(status, 400)
  assert.match(detail, /feedback is off in this project.*--feedback on/u)
  const { projectId } = client.project
  await switchFeedback(projectId, 'on')
  await denyMatch(client, pictureOf('Bea', 0))
  await switchFeedback(projectId, 'off')
  assert.equal((await identify(client, pictureOf('Bea', 1))).value.matched, false)
  await identify(client, pictureOf('Cleo', 1))
  assert.equal((await rowsOf(client)).length, 1)
  const shown = await runJson(gallery.dataDir, project, `show ${projectId}`)
  assert.equal(shown.switches.feedback, false)
})

test('Twenty denials of a subject have an effect at once', async () => {
  const client = await createClient()
  await enrollPerson(client, 'Ann')
  const requestIds: string[] = []
  for (let index = 0; index < denialsPerSubject; index++) {
    nowMs += 1
    requestIds.push((await identify(client, pictureOf(`Guest ${index}`, 0))).requestId)
  }
  for (const requestId of requestIds) await sendFeedback(client, { requestId, verdict: 'deny' })
  for (const index of requestIds.keys())
    for (const take of [0, 1])
      assert.equal((await identify(client, pictureOf(`Guest ${index}`, take))).value.matched, false)
  assert.equal((await identify(client, pictureOf('Ann', 1))).value.matched, true)
})

test('A search with many faces decrypts each denial of a subject once', async () => {
  const client = await createClient()
  const subjectId = await enrollPerson(client, 'Ann')
  for (const name of ['Bea', 'Fay']) await denyMatch(client, pictureOf(name, 0))
  let decryptedCount = 0
  const options = {
    calibrations: fakeCalibrations({ active: 'people@1' }),
    decryptStored: async () => {
      decryptedCount += 1
      return fakeTemplate({ name: 'Bea' }, 'people@1')
    },
  }
  const hit = { subjectId, modelId: 'people@1', similarity: 0.9, score: -9 }
  const probes = [fakeTemplate({ name: 'Bea' }, 'people@1')]
  const faces = Array.from({ length: 20 }, () => ({ probes, hits: [hit] }))
  const lowered = await lowerDeniedHits(gallery.database.store.read, faces, options)
  assert.deepEqual(new Set(lowered.flat().map(({ similarity: lower }) => lower)), new Set([0.45]))
  assert.equal(decryptedCount, 2)
})

test('Only the project of a call decides its matches; in a shared gallery the denial applies to all', async () => {
  const client = await createClient('shared')
  const sibling = await createClient('shared', client.project.accountId)
  const foreign = await createClient()
  const ann = await enrollPerson(client, 'Ann')
  const { requestId } = await identify(client, pictureOf('Bea', 0))
  for (const other of [sibling, foreign])
    assert.equal((await refusal(other, { requestId, verdict: 'deny' })).status, 404)
  await sendFeedback(client, { requestId, verdict: 'deny' })
  assert.equal((await identify(sibling, pictureOf('Bea', 1))).value.matched, false)
  const reader = await gallery.createProjectClient({
    galleryMode: 'isolated',
    permissions: ['svc.identify'],
  })
  const { status } = await sendFeedback(reader, { requestId, verdict: 'deny' })
  assert.equal(status, 403)
  await client.value('svc.deleteSubject', { subjectId: ann })
  assert.equal((await refusal(client, { requestId, verdict: 'confirm' })).status, 404)
  assert.deepEqual(await rowsOf(client), [])
})

test('The deletion of a project deletes its confirmations from a shared gallery, and its denials stay', async () => {
  const client = await createClient('shared')
  const { projectId, accountId } = client.project
  const sibling = await createClient('shared', accountId)
  await enrollPerson(client, 'Ann')
  const { requestId } = await identify(client, pictureOf('Ann', 1))
  await sendFeedback(client, { requestId, verdict: 'confirm' })
  await denyMatch(client, pictureOf('Bea', 0))
  await runJson(gallery.dataDir, project, `delete ${projectId} --yes`)
  assert.deepEqual(
    (await rowsOf(client)).map(({ verdict }) => verdict),
    ['denied'],
  )
  assert.equal((await identify(sibling, pictureOf('Bea', 1))).value.matched, false)
  const report = await runJson(gallery.dataDir, feedbackCommands, 'show')
  type Row = { readonly projectId: string }
  assert.ok(!report.projects.some((row: Row) => row.projectId === projectId), 'not counted')
})
