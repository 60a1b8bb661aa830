import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { models } from '../../src/cli/models/models.ts'
import { project } from '../../src/cli/tenancy/project.ts'
import type { Store } from '../../src/store/database.ts'
import { findModelCoverage } from '../../src/store/gallery/model-coverage.ts'
import { runJson } from '../support/cli/run-json.ts'
import { isOnPostgres, openTestStore } from '../support/database/engine.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../support/gallery/test-gallery.ts'
import { killGalleryProcess, startGalleryProcess } from '../support/gallery/gallery-process.ts'
import { fakeImage } from '../support/gallery/fake-vision.ts'

/** The new model bears the name of the built-in one: that is what the command line takes as active. */
const active = 'dlib-faceres-256@1'
const former = 'people@1'
const formerModels = { active: former }
const changedModels = { active, former: [former] }

const storeCrops = (dataDir: string, to: 'on' | 'off', name = 'default') =>
  runJson(dataDir, project, `set ${name} --store-crops ${to}`)

async function withFolder(work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crops-'))
  try {
    await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

async function crops({
  db,
}: Store): Promise<{ readonly faceId: string; readonly sealed: Uint8Array }[]> {
  return db.selectFrom('crops').select(['faceId', 'sealed']).execute()
}

async function enrollAll(client: GalleryClient, names: readonly string[]) {
  const made = names.map((name) =>
    client.value('svc.enroll', { ...imageParams(name), externalId: name, duplicateCheck: 'off' }),
  )
  return Promise.all(made) as Promise<{ readonly subjectId: string; readonly faceId: string }[]>
}

/** How many of these bytes stand in the files of the database. */
async function countExposed(dataDir: string, wanted: readonly Buffer[]): Promise<number> {
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate.db'))
  const all = await Promise.all(files.map((file) => readFile(path.join(dataDir, file))))
  return wanted.filter((bytes) => all.some((one) => one.includes(bytes))).length
}

const skip = isOnPostgres() && 'postgres/at-rest.test.ts looks into the files of the server'

test(
  'no crop is stored unless the project says so, and none lies in the clear or outlives its subject',
  { skip },
  () =>
    withFolder(async (dataDir) => {
      await using gallery = await startGallery({ dataDir })
      const { store } = gallery.database
      await enrollAll(gallery, ['Gia'])
      assert.deepEqual(await crops(store), [])
      assert.ok(gallery.vision.requests.every((look) => !look.contextCrops))

      assert.equal((await storeCrops(dataDir, 'on')).switches.storeCrops, true)
      const [hal, ivy] = await enrollAll(gallery, ['Hal', 'Ivy'])
      assert.ok(gallery.vision.requests.at(-1)?.contextCrops)
      const told = JSON.stringify([hal, ivy, (await gallery.rest('GET', '/v1/subjects')).body])
      for (const name of ['Hal', 'Ivy'])
        assert.ok(!told.includes(fakeImage(name).bytes.toString('base64').slice(0, 16)))
      const stored = await crops(store)
      assert.equal(stored.length, 2)
      await store.checkpoint()
      const sealed = stored.map((crop) => Buffer.from(crop.sealed))
      assert.equal(await countExposed(dataDir, sealed), 2, 'the scan finds what is there')
      const plain = ['Hal', 'Ivy'].flatMap((name) => {
        const { bytes } = fakeImage(name)
        return [bytes, Buffer.from(bytes.toString('base64'))]
      })
      assert.equal(await countExposed(dataDir, plain), 0)

      await gallery.value('svc.deleteSubject', { subjectId: hal?.subjectId })
      const more = { ...imageParams({ name: 'Ivy', deviation: 0.3 }), subjectId: ivy?.subjectId }
      await gallery.value('svc.updateSubject', more)
      assert.equal((await crops(store)).length, 2)
      await gallery.value('svc.updateSubject', {
        subjectId: ivy?.subjectId,
        removeFaceIds: [ivy?.faceId],
      })
      assert.equal((await crops(store)).length, 1)
      await store.checkpoint()
      assert.equal(await countExposed(dataDir, sealed), 0, 'not even the ciphertext is left')
    }),
)

test('switched off, the crops of that project go, and are counted', () =>
  withFolder(async (dataDir) => {
    await using gallery = await startGallery({ dataDir })
    const { store } = gallery.database
    const other = await gallery.createProjectClient({ galleryMode: 'isolated' })
    for (const name of ['default', other.project.projectId]) await storeCrops(dataDir, 'on', name)
    await enrollAll(gallery, ['Jon', 'Kim', 'Lea'])
    const [kept] = await enrollAll(other, ['Jon'])
    const off = await storeCrops(dataDir, 'off')
    assert.deepEqual([off.switches.storeCrops, off.cropsDeleted], [false, 3])
    assert.deepEqual(
      (await crops(store)).map(({ faceId }) => faceId),
      [kept?.faceId],
    )
    await enrollAll(gallery, ['Max'])
    assert.equal((await crops(store)).length, 1)
  }))

test('after a change of the model its templates are made of the crops, side by side, under the same ids', () =>
  withFolder(async (dataDir) => {
    const names = ['Ada', 'Ben', 'Cid', 'Dan', 'Eve', 'Fay']
    let key: string
    let made: { readonly subjectId: string; readonly faceId: string }[]
    {
      await using gallery = await startGallery({ dataDir, models: formerModels })
      key = gallery.key
      await enrollAll(gallery, ['Uma', 'Vic'])
      await storeCrops(dataDir, 'on')
      made = await enrollAll(gallery, names)
    }
    const before = await runJson(dataDir, models, 'status')
    assert.deepEqual(
      [before.comparableFaces, before.remakeableFaces, before.waitingFaces],
      [0, 6, 2],
    )
    assert.equal(before.notComparableSubjects, 8)

    await using gallery = await startGallery({ dataDir, key, models: changedModels })
    assert.deepEqual(await gallery.openedGallery.reEmbedding, { succeeded: 6, failed: 0 })
    assert.ok(gallery.vision.requests.every(({ projectId }) => projectId === 'remake'))
    const status = await runJson(dataDir, models, 'status')
    assert.deepEqual(
      [status.comparableFaces, status.remakeableFaces, status.waitingFaces],
      [6, 0, 2],
    )
    assert.deepEqual(status.models, [
      { modelId: active, templates: 6, use: 'active' },
      { modelId: former, templates: 8, use: 'not loaded' },
    ])
    for (const [at, name] of names.entries()) {
      const seen = await gallery.value('svc.identify', imageParams(name), { debug: true })
      assert.equal(seen.bestMatch.faceId, made[at]?.faceId)
      assert.equal(seen.bestMatch.similarity, 1)
    }
    const same = { ...imageParams('Ada'), externalId: 'Ada' }
    const verified = await gallery.value('svc.verify', same, { debug: true })
    assert.equal(verified.debug.providers.formerRecognizer, undefined, 'the new model compares')
    assert.equal((await findSubject(gallery, 'Ada')).embeddingCount, 1)
    await assertLedgerAudit(gallery.database.store)

    await retireFormerModel(gallery, dataDir)
  }))

/** Uma and Vic are known by the former model alone: nothing is retired before they are known anew. */
async function retireFormerModel(gallery: TestGallery, dataDir: string): Promise<void> {
  const line = `retire ${former} --confirm ${former}`
  await assert.rejects(runJson(dataDir, models, `retire ${former}`), /--confirm/u)
  await assert.rejects(runJson(dataDir, models, `retire ${active} --confirm ${active}`), /active/u)
  await assert.rejects(runJson(dataDir, models, line), /2 subjects .* would be lost/u)
  await runJson(dataDir, project, 'set default --auto-enroll on')
  const uma = await gallery.value('svc.verify', { ...imageParams('Uma'), externalId: 'Uma' })
  assert.ok(uma.adoptedFaceId)
  await gallery.value('svc.enroll', { ...imageParams('Vic'), externalId: 'Vic' })
  await assert.rejects(runJson(dataDir, models, line), /2 faces .* --delete-faces/u)
  const retired = await runJson(dataDir, models, `${line} --delete-faces`)
  assert.deepEqual([retired.templatesDeleted, retired.facesDeleted], [8, 2])
  const { remakeableFaces, waitingFaces, models: left } = await runJson(dataDir, models, 'status')
  assert.deepEqual([remakeableFaces, waitingFaces, left.length], [0, 0, 1])
  for (const name of ['Ada', 'Uma', 'Vic']) {
    const seen = await gallery.value('svc.identify', imageParams(name))
    assert.equal(seen.bestMatch.externalId, name)
  }
  assert.equal(gallery.vision.requests.at(-1)?.previousTemplates, undefined)
  assert.equal((await findSubject(gallery, 'Uma')).embeddingCount, 1)
  await assertLedgerAudit(gallery.database.store)
}

test('killed in the middle, the work goes on at the next start where it ended', () =>
  withFolder(async (dataDir) => {
    const names = Array.from({ length: 40 }, (_, at) => `Person ${at}`)
    let key: string
    {
      await using gallery = await startGallery({ dataDir, models: formerModels })
      key = gallery.key
      await storeCrops(dataDir, 'on')
      await enrollAll(gallery, names)
    }
    const doneSoFar = async (): Promise<number> => {
      const store = await openTestStore(dataDir)
      const { comparableFaces } = await store.read((reading) => findModelCoverage(reading, active))
      await store.close()
      return comparableFaces
    }
    const looksMax = 15
    const server = await startGalleryProcess(dataDir, key, {
      models: changedModels,
      analysesMax: looksMax,
    })
    while ((await doneSoFar()) < looksMax) await sleep(20)
    await killGalleryProcess(server)
    const done = await doneSoFar()
    assert.equal(done, looksMax)

    await using gallery = await startGallery({ dataDir, key, models: changedModels })
    assert.deepEqual(await gallery.openedGallery.reEmbedding, {
      succeeded: names.length - done,
      failed: 0,
    })
    const seen = await gallery.value('svc.identify', imageParams('Person 39'), { debug: true })
    assert.equal(seen.bestMatch.externalId, 'Person 39')
    assert.equal(seen.debug.providers.formerRecognizer, undefined)
    await assertLedgerAudit(gallery.database.store)
  }))

test('who is deleted, or whose crops are, while the templates are made gets none', () =>
  withFolder(async (dataDir) => {
    let key: string
    let made: { readonly subjectId: string }[]
    {
      await using gallery = await startGallery({ dataDir, models: formerModels })
      key = gallery.key
      await storeCrops(dataDir, 'on')
      made = await enrollAll(gallery, ['Ada', 'Ben', 'Cid', 'Dan'])
    }
    const looking = Promise.withResolvers<void>()
    const atLook = () => looking.promise
    await using gallery = await startGallery({
      dataDir,
      key,
      models: changedModels,
      onAnalyze: atLook,
    })
    while (gallery.vision.requests.length === 0) await sleep(5)
    for (const { subjectId } of made.slice(0, 3))
      await gallery.value('svc.deleteSubject', { subjectId })
    await storeCrops(dataDir, 'off')
    looking.resolve()
    assert.deepEqual(await gallery.openedGallery.reEmbedding, { succeeded: 0, failed: 0 })
    const templates = await gallery.database.store.db.selectFrom('templates').selectAll().execute()
    assert.deepEqual(
      templates.map(({ modelId }) => modelId),
      [former],
    )
    assert.equal((await gallery.value('svc.identify', imageParams('Ada'))).matched, false)
    assert.equal((await gallery.value('svc.identify', imageParams('Dan'))).matched, true)
    await assertLedgerAudit(gallery.database.store)
  }))

test('a crop that was moved to another face opens nowhere, raises an alert and makes nothing', () =>
  withFolder(async (dataDir) => {
    const lines: string[] = []
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) })
    let key: string
    {
      await using gallery = await startGallery({ dataDir, models: formerModels })
      key = gallery.key
      await storeCrops(dataDir, 'on')
      await enrollAll(gallery, ['Ann', 'Bob'])
      const { db } = gallery.database.store
      const [ann, bob] = await crops(gallery.database.store)
      const swap = (to = ann, from = bob) =>
        db
          .updateTable('crops')
          .set({ sealed: from?.sealed ?? Buffer.alloc(0) })
          .where('faceId', '=', to?.faceId ?? '')
          .execute()
      await swap(ann, bob)
    }
    await using gallery = await startGallery({ dataDir, key, models: changedModels, log })
    assert.deepEqual(await gallery.openedGallery.reEmbedding, { succeeded: 1, failed: 1 })
    assert.equal(lines.filter((line) => line.includes('crop-tampered')).length, 1)
  }))

async function findSubject(client: GalleryClient, externalId: string) {
  const { body } = await client.rest('GET', `/v1/subjects?externalId=${externalId}`)
  return body.items[0] as { readonly embeddingCount: number }
}

async function assertLedgerAudit({ db }: Store): Promise<void> {
  const checks = await auditLedger(db, Date.now())
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  )
}
