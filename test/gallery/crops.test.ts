import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { models } from '../../src/cli/models/commands.ts'
import { project } from '../../src/cli/tenancy/commands.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
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

/** The command line treats the built-in model as the active one. */
let active = ''
const former = 'people@1'
const formerModels = { active: former }
let changedModels = { active, former: [former] }
before(async () => {
  active = (await readTemplateModel()).modelId
  changedModels = { active, former: [former] }
})

const storeCrops = (dataDir: string, to: 'on' | 'off', name = 'default') =>
  runJson(dataDir, project, `set ${name} --store-crops ${to}`)

async function withFolder(run: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crops-'))
  try {
    await run(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

const crops = ({ db }: Store) => db.selectFrom('crops').select(['faceId', 'ciphertext']).execute()

async function enrollAll(client: GalleryClient, names: readonly string[]) {
  const enrollments = names.map((name) =>
    client.value('svc.enroll', { ...imageParams(name), externalId: name, duplicateCheck: 'off' }),
  )
  return Promise.all(enrollments) as Promise<
    { readonly subjectId: string; readonly faceId: string }[]
  >
}

/** Returns how many of these byte sequences occur in the files of the database. */
async function countExposed(dataDir: string, sequences: readonly Buffer[]): Promise<number> {
  const files = (await readdir(dataDir)).filter((name) => name.startsWith('facegate.db'))
  const contents = await Promise.all(files.map((file) => readFile(path.join(dataDir, file))))
  return sequences.filter((bytes) => contents.some((content) => content.includes(bytes))).length
}

const skip = isOnPostgres() && 'postgres/encryption-at-rest.test.ts checks the files of the server'

test(
  'Crops are stored only if the project enables it, always encrypted, and deleted with their subject',
  { skip },
  () =>
    withFolder(async (dataDir) => {
      await using gallery = await startGallery({ dataDir })
      const { store } = gallery.database
      await enrollAll(gallery, ['Gia'])
      assert.deepEqual(await crops(store), [])
      assert.ok(gallery.vision.requests.every((request) => !request.contextCrops))

      assert.equal((await storeCrops(dataDir, 'on')).switches.storeCrops, true)
      const [hal, ivy] = await enrollAll(gallery, ['Hal', 'Ivy'])
      assert.ok(gallery.vision.requests.at(-1)?.contextCrops)
      const responses = JSON.stringify([hal, ivy, (await gallery.rest('GET', '/v1/subjects')).body])
      for (const name of ['Hal', 'Ivy'])
        assert.ok(!responses.includes(fakeImage(name).bytes.toString('base64').slice(0, 16)))
      const stored = await crops(store)
      assert.equal(stored.length, 2)
      await store.checkpoint()
      const ciphertexts = stored.map((crop) => Buffer.from(crop.ciphertext))
      assert.equal(await countExposed(dataDir, ciphertexts), 2, 'the check finds the ciphertext')
      const plaintexts = ['Hal', 'Ivy'].flatMap((name) => {
        const { bytes } = fakeImage(name)
        return [bytes, Buffer.from(bytes.toString('base64'))]
      })
      assert.equal(await countExposed(dataDir, plaintexts), 0)

      await gallery.value('svc.deleteSubject', { subjectId: hal?.subjectId })
      const update = { ...imageParams({ name: 'Ivy', deviation: 0.3 }), subjectId: ivy?.subjectId }
      await gallery.value('svc.updateSubject', update)
      assert.equal((await crops(store)).length, 2)
      await gallery.value('svc.updateSubject', {
        subjectId: ivy?.subjectId,
        removeFaceIds: [ivy?.faceId],
      })
      assert.equal((await crops(store)).length, 1)
      await store.checkpoint()
      assert.equal(await countExposed(dataDir, ciphertexts), 0, 'the ciphertext is deleted too')
    }),
)

test('Switching the feature off deletes the crops of that project and reports their number', () =>
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

test('After a model change, templates are created from crops under the same ids, beside the old ones', () =>
  withFolder(async (dataDir) => {
    const names = ['Ada', 'Ben', 'Cid', 'Dan', 'Eve', 'Fay']
    let key: string
    let enrolled: { readonly subjectId: string; readonly faceId: string }[]
    {
      await using gallery = await startGallery({ dataDir, models: formerModels })
      key = gallery.key
      await enrollAll(gallery, ['Uma', 'Vic'])
      await storeCrops(dataDir, 'on')
      enrolled = await enrollAll(gallery, names)
    }
    const before = await runJson(dataDir, models, 'status')
    assert.deepEqual(
      [before.comparableFaces, before.remakeableFaces, before.waitingFaces],
      [0, 6, 2],
    )
    assert.equal(before.notComparableSubjects, 8)

    await using gallery = await startGallery({ dataDir, key, models: changedModels })
    assert.deepEqual(await gallery.openedGallery.reEmbedding, { succeeded: 6, failed: 0 })
    assert.ok(gallery.vision.requests.every(({ projectId }) => projectId === 're-embed'))
    const status = await runJson(dataDir, models, 'status')
    assert.deepEqual(
      [status.comparableFaces, status.remakeableFaces, status.waitingFaces],
      [6, 0, 2],
    )
    assert.deepEqual(status.models, [
      { modelId: active, templates: 6, use: 'active' },
      { modelId: former, templates: 8, use: 'not loaded' },
    ])
    for (const [index, name] of names.entries()) {
      const found = await gallery.value('svc.identify', imageParams(name), { debug: true })
      assert.equal(found.bestMatch.faceId, enrolled[index]?.faceId)
      assert.equal(found.bestMatch.similarity, 1)
    }
    const probe = { ...imageParams('Ada'), externalId: 'Ada' }
    const verified = await gallery.value('svc.verify', probe, { debug: true })
    assert.equal(verified.debug.providers.formerRecognizer, undefined, 'the new model is used')
    assert.equal((await findSubject(gallery, 'Ada')).embeddingCount, 1)
    await assertLedgerAudit(gallery.database.store)

    await retireFormerModel(gallery, dataDir)
  }))

/** Retires the former model after Uma and Vic, who have templates of it only, are re-enrolled. */
async function retireFormerModel(gallery: TestGallery, dataDir: string): Promise<void> {
  const command = `retire ${former} --confirm ${former}`
  await assert.rejects(runJson(dataDir, models, `retire ${former}`), /--confirm/u)
  await assert.rejects(runJson(dataDir, models, `retire ${active} --confirm ${active}`), /active/u)
  await assert.rejects(runJson(dataDir, models, command), /2 subjects would be lost/u)
  await runJson(dataDir, project, 'set default --auto-enroll on')
  const uma = await gallery.value('svc.verify', { ...imageParams('Uma'), externalId: 'Uma' })
  assert.ok(uma.autoEnrolledFaceId)
  await gallery.value('svc.enroll', { ...imageParams('Vic'), externalId: 'Vic' })
  await assert.rejects(runJson(dataDir, models, command), /2 faces .* --delete-faces/u)
  const retired = await runJson(dataDir, models, `${command} --delete-faces`)
  assert.deepEqual([retired.templatesDeleted, retired.facesDeleted], [8, 2])
  const {
    remakeableFaces,
    waitingFaces,
    models: modelsLeft,
  } = await runJson(dataDir, models, 'status')
  assert.deepEqual([remakeableFaces, waitingFaces, modelsLeft.length], [0, 0, 1])
  for (const name of ['Ada', 'Uma', 'Vic']) {
    const found = await gallery.value('svc.identify', imageParams(name))
    assert.equal(found.bestMatch.externalId, name)
  }
  assert.deepEqual(gallery.vision.requests.at(-1)?.previousTemplates, [])
  assert.equal((await findSubject(gallery, 'Uma')).embeddingCount, 1)
  await assertLedgerAudit(gallery.database.store)
}

test('After a kill during re-embedding, the next start continues with the remaining faces', () =>
  withFolder(async (dataDir) => {
    const names = Array.from({ length: 40 }, (_, index) => `Person ${index}`)
    let key: string
    {
      await using gallery = await startGallery({ dataDir, models: formerModels })
      key = gallery.key
      await storeCrops(dataDir, 'on')
      await enrollAll(gallery, names)
    }
    const store = await openTestStore(dataDir)
    const doneSoFar = async (): Promise<number> => {
      const { comparableFaces } = await store.read((reading) => findModelCoverage(reading, active))
      return comparableFaces
    }
    const analysesMax = 15
    const server = await startGalleryProcess(dataDir, key, {
      models: changedModels,
      analysesMax,
    })
    while ((await doneSoFar()) < analysesMax) await sleep(20)
    await killGalleryProcess(server)
    const done = await doneSoFar()
    assert.equal(done, analysesMax)
    await store.close()

    await using gallery = await startGallery({ dataDir, key, models: changedModels })
    assert.deepEqual(await gallery.openedGallery.reEmbedding, {
      succeeded: names.length - done,
      failed: 0,
    })
    const found = await gallery.value('svc.identify', imageParams('Person 39'), { debug: true })
    assert.equal(found.bestMatch.externalId, 'Person 39')
    assert.equal(found.debug.providers.formerRecognizer, undefined)
    await assertLedgerAudit(gallery.database.store)
  }))

test('A subject or crop that is deleted during re-embedding gets no template', () =>
  withFolder(async (dataDir) => {
    let key: string
    let enrolled: { readonly subjectId: string }[]
    {
      await using gallery = await startGallery({ dataDir, models: formerModels })
      key = gallery.key
      await storeCrops(dataDir, 'on')
      enrolled = await enrollAll(gallery, ['Ada', 'Ben', 'Cid', 'Dan'])
    }
    const analysis = Promise.withResolvers<void>()
    await using gallery = await startGallery({
      dataDir,
      key,
      models: changedModels,
      onAnalyze: () => analysis.promise,
    })
    while (gallery.vision.requests.length === 0) await sleep(5)
    for (const { subjectId } of enrolled.slice(0, 3))
      await gallery.value('svc.deleteSubject', { subjectId })
    await storeCrops(dataDir, 'off')
    analysis.resolve()
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

test('A crop that was moved to another face cannot be decrypted, raises an alert and is not used', () =>
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
      assert.ok(ann && bob)
      const { ciphertext } = bob
      await db.updateTable('crops').set({ ciphertext }).where('faceId', '=', ann.faceId).execute()
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
  const failed = (await auditLedger(db, Date.now())).filter(({ ok }) => !ok)
  assert.deepEqual(failed, [])
}
