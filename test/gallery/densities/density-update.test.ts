import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { auditLedger } from '../../../src/billing/audit-ledger.ts'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { createLog, type Log } from '../../../src/lib/log.ts'
import type { Store } from '../../../src/store/database.ts'
import { dropDatabase } from '../../support/database/engine.ts'
import { tamper } from '../../support/database/tamper.ts'
import {
  countVersions,
  earlierCohort,
  enrollPeople,
  fillPeople,
  laterCohort,
  pictureOf,
  waitForUpdate,
} from '../../support/gallery/density-people.ts'
import { runGalleryProcess } from '../../support/gallery/gallery-process.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
} from '../../support/gallery/test-gallery.ts'

/** Enough for many transactions of an update. */
const fillCount = 250
const names = ['Ada', 'Ben', 'Cid', 'Dan', 'Eve', 'Fay']

/** Runs a test in a data folder with people enrolled by the earlier version. */
async function withEarlierGallery(
  work: (dataDir: string, key: string) => Promise<void>,
  count = 0,
): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-densities-'))
  try {
    const key = await enrollEarlier(dataDir, count)
    await work(dataDir, key)
  } finally {
    await dropDatabase(dataDir)
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function enrollEarlier(dataDir: string, count: number): Promise<string> {
  await using gallery = await startGallery({ dataDir, models: earlierCohort })
  await enrollPeople(gallery, names)
  await fillPeople(gallery, 'Other', count)
  return gallery.key
}

type Identified = { readonly name: string | undefined; readonly similarity: number | undefined }

/** Searches with a third picture of each person, and with one of another person. */
async function identifyAll(client: GalleryClient): Promise<Identified[]> {
  const searched = [...names, 'Other 0', 'Other 99', 'Not enrolled']
  return Promise.all(
    searched.map(async (name) => {
      const { bestMatch } = await client.value('svc.identify', imageParams(pictureOf(name, 3)))
      return { name: bestMatch?.externalId, similarity: bestMatch?.similarity }
    }),
  )
}

const namesOf = (found: readonly Identified[]) => found.map(({ name }) => name)

/** Returns the model ids of the faces of each subject. */
async function modelsBySubject(store: Store): Promise<readonly (readonly string[])[]> {
  const rows = await store.db
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .select(['subjectId', 'modelId'])
    .execute()
  const bySubject = Map.groupBy(rows, ({ subjectId }) => subjectId)
  return [...bySubject.values()].map((own) => own.map(({ modelId }) => modelId))
}

function captureLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = []
  return { log: createLog('info', { write: (line) => void lines.push(line) }), lines }
}

test('A gallery finds the same people before, during and after the update of its densities, also after kill -9', () =>
  withEarlierGallery(async (dataDir, key) => {
    const before = await identifyWith({ dataDir, key, models: earlierCohort })
    assert.deepEqual(namesOf(before), [...names, 'Other 0', 'Other 99', undefined])

    const options = { models: laterCohort, killDuringUpdate: true }
    assert.equal(await runGalleryProcess(dataDir, key, options), 'SIGKILL')

    const isUpdated = new Map<string, boolean>()
    const during = await identifyDuring(dataDir, key, isUpdated)
    assert.deepEqual(namesOf(during), namesOf(before))

    await using gallery = await startGallery({ dataDir, key, models: laterCohort })
    const { store } = gallery.database
    await waitForUpdate(store)
    assert.deepEqual(await countVersions(store), [0, 2 * (names.length + fillCount)])
    const after = await identifyAll(gallery)
    assert.deepEqual(namesOf(after), namesOf(before))
    for (const [index, { name = '', similarity }] of during.entries()) {
      const expected = isUpdated.get(name) ? after[index] : before[index]
      assert.equal(similarity, expected?.similarity, `${name} has a score of one version`)
    }
    assert.notDeepEqual(after, before, 'the cohorts differ')
    // Until the run has ended, former versions are still expected.
    const { gallery: opened } = gallery.openedGallery
    while (opened.densityProgress().pending > 0) await sleep(20)
    await runAsAllAccounts(() => opened.updateDensities(new AbortController().signal))
    await gallery.value('svc.identify', imageParams('Ada'))
    assert.equal(gallery.vision.requests.at(-1)?.previousTemplates, undefined)
    const audit = await auditLedger(store.db, Date.now())
    assert.deepEqual(
      audit.filter(({ ok }) => !ok),
      [],
    )
  }, fillCount))

type StartOptions = Parameters<typeof startGallery>[0]

async function identifyWith(options: StartOptions): Promise<Identified[]> {
  await using gallery = await startGallery(options)
  return await identifyAll(gallery)
}

/** Searches the half updated gallery while no update runs. */
async function identifyDuring(
  dataDir: string,
  key: string,
  isUpdated: Map<string, boolean>,
): Promise<Identified[]> {
  await using gallery = await startGallery({
    dataDir,
    key,
    models: laterCohort,
    densityUpdates: [],
  })
  const { store } = gallery.database
  const [earlier, later] = await countVersions(store)
  assert.ok(earlier > 0 && later > 0, `${earlier} and ${later} templates`)
  for (const modelIds of await modelsBySubject(store))
    assert.equal(new Set(modelIds).size, 1, 'a subject has templates of one version')
  const { body } = await gallery.rest('GET', '/v1/subjects?include=faces&limit=200')
  for (const { externalId, faces } of body.items)
    isUpdated.set(externalId, faces[0].modelId === laterCohort.active)
  return await identifyAll(gallery)
}

test('People are found in every search while an update runs', () =>
  withEarlierGallery(async (dataDir, key) => {
    await using gallery = await startGallery({ dataDir, key, models: laterCohort })
    const { store } = gallery.database
    const expected = [...names, 'Other 0', 'Other 99', undefined]
    const duplicate = { ...imageParams(pictureOf('Other 50', 3)), externalId: 'Other 50 again' }
    await gallery.value('svc.enroll', { ...duplicate, duplicateCheck: 'off' })
    let searches = 0
    for (let left = 1; left > 0; searches++) {
      left = (await countVersions(store))[0]
      // The duplicate has a template of the later version, the subject possibly not yet.
      const { bestMatch } = await gallery.value('svc.identify', { externalId: 'Other 50' })
      assert.equal(bestMatch?.externalId, 'Other 50 again')
      assert.deepEqual(namesOf(await identifyAll(gallery)), expected)
    }
    assert.ok(searches > 0)
  }, fillCount))

test('A deletion, an enrollment and a key rotation during an update keep their effect', () =>
  withEarlierGallery(async (dataDir, key) => {
    const { log, lines } = captureLog()
    const ids = await earlierSubjectIds(dataDir, key)
    const interference = Promise.withResolvers<() => Promise<void>>()
    const interfered = Promise.withResolvers<void>()
    let isArmed = true
    const wrapStore = (store: Store): Store => ({
      ...store,
      // Between the read of a batch and its write.
      write: async (job) => {
        if (isArmed && lines.some((line) => line.includes('updating the densities'))) {
          isArmed = false
          const interfere = await interference.promise
          await interfere().then(interfered.resolve, interfered.reject)
        }
        return store.write(job)
      },
    })
    await using gallery = await startGallery({ dataDir, key, models: laterCohort, log, wrapStore })
    const { store } = gallery.database
    interference.resolve(async () => {
      await gallery.value('svc.deleteSubject', { subjectId: ids.get('Ada') })
      const added = imageParams(pictureOf('Ben', 4))
      await gallery.value('svc.enroll', { ...added, subjectId: ids.get('Ben') })
      const { faces } = await subjectOf(gallery, ids.get('Cid'))
      const removal = { subjectId: ids.get('Cid'), removeFaceIds: [faces[0]?.faceId] }
      await gallery.value('svc.updateSubject', removal)
      const masterKeyFile = path.join(dataDir, 'master.key')
      const rotation = { store, masterKeyFile, nowMs: Date.now }
      const { renewed, unreadable } = await runAsAllAccounts(() => rotateKeys(rotation))
      assert.deepEqual([renewed, unreadable], [1, 0])
      for (const modelIds of await modelsBySubject(store))
        assert.equal(new Set(modelIds).size, 1, 'the added face did not mix the versions')
    })
    await interfered.promise
    await waitForUpdate(store)
    const found = namesOf(await identifyAll(gallery))
    assert.deepEqual(found.slice(0, names.length), [undefined, ...names.slice(1)])
    const counts = await Promise.all(
      names.slice(1).map(async (name) => (await subjectOf(gallery, ids.get(name))).embeddingCount),
    )
    assert.deepEqual(counts, [3, 1, 2, 2, 2])
  }))

async function earlierSubjectIds(dataDir: string, key: string) {
  await using gallery = await startGallery({ dataDir, key, models: earlierCohort })
  return await subjectIdsByName(gallery)
}

async function subjectIdsByName(client: GalleryClient): Promise<ReadonlyMap<string, string>> {
  const { body } = await client.rest('GET', '/v1/subjects?limit=200')
  type Item = { readonly externalId: string; readonly subjectId: string }
  return new Map(body.items.map((item: Item) => [item.externalId, item.subjectId]))
}

type SubjectFaceIds = {
  readonly embeddingCount: number
  readonly faces: readonly { readonly faceId: string }[]
}

async function subjectOf(client: GalleryClient, subjectId = ''): Promise<SubjectFaceIds> {
  return (await client.rest('GET', `/v1/subjects/${subjectId}?include=faces`)).body
}

const messages = [
  'updating the densities of stored templates',
  'updated the densities of stored templates',
  'templates that cannot be decrypted were not updated; they match nothing',
]

test('A template that cannot be decrypted is reported and does not stop the others', () =>
  withEarlierGallery(async (dataDir, key) => {
    // Two ciphertexts change places; each is bound to the ids of one face.
    const [first, second] = await twoFaceIds(dataDir, key)
    await tamper(
      dataDir,
      `update templates set sealed = (select t.sealed from templates t where t."faceId" = '${second}')
       where "faceId" = '${first}'`,
    )
    const { log, lines } = captureLog()
    await using gallery = await startGallery({ dataDir, key, models: laterCohort, log })
    const { store } = gallery.database
    const messagesOf = () => lines.map((line) => JSON.parse(line).msg)
    const { densityProgress } = gallery.openedGallery.gallery
    while (!messagesOf().includes(messages[2]) || densityProgress().pending > 0) await sleep(20)
    assert.deepEqual(densityProgress(), { pending: 0, updated: 2 * names.length - 1, failed: 1 })
    assert.deepEqual(await countVersions(store), [1, 2 * names.length - 1])
    for (const message of messages)
      assert.equal(messagesOf().filter((text) => text === message).length, 1, message)
    assert.ok(lines.some((line) => line.includes('"alert":"template-tampered"')))
    // Ada is found by her other face.
    assert.deepEqual(namesOf(await identifyAll(gallery)).slice(0, names.length), names)
  }))

async function twoFaceIds(dataDir: string, key: string): Promise<readonly string[]> {
  await using gallery = await startGallery({ dataDir, key, models: earlierCohort })
  const ids = await subjectIdsByName(gallery)
  const ofAda = await subjectOf(gallery, ids.get('Ada'))
  const ofBen = await subjectOf(gallery, ids.get('Ben'))
  return [ofAda, ofBen].map(({ faces }) => faces[0]?.faceId ?? '')
}
