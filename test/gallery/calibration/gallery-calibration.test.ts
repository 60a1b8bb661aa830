import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { backup } from '../../../src/cli/database/commands.ts'
import { calibrate } from '../../../src/cli/calibrate/commands.ts'
import { calibrationOf, createCalibrations } from '../../../src/gallery/calibration/calibrations.ts'
import { parseCalibration } from '../../../src/gallery/calibration/read-calibration.ts'
import { type Calibration, similarityAt } from '../../../src/gallery/calibration/similarity.ts'
import { readTemplateModel } from '../../../src/models/template/template-model.ts'
import { findBrokenAuditEntries } from '../../../src/store/console/audit-log.ts'
import {
  addCalibration,
  findGalleryCalibrations,
} from '../../../src/store/gallery/calibration/applied-calibrations.ts'
import type { Project } from '../../../src/store/tenancy/projects.ts'
import { runJson, runLines } from '../../support/cli/run-json.ts'
import { isOnPostgres } from '../../support/database/engine.ts'
import { embeddingOf, fakeImage, type FakePerson } from '../../support/gallery/fake-vision.ts'
import { fillTemplates } from '../../support/gallery/fill-templates.ts'
import {
  imageParams,
  startGallery,
  type GalleryClient,
  type TestGallery,
} from '../../support/gallery/test-gallery.ts'

let modelId = ''
let shipped: Calibration
let gallery: TestGallery
let client: GalleryClient & { readonly project: Project }
/** Runs once, while the next image is analyzed. */
let whileAnalyzing: (() => Promise<unknown>) | undefined
before(async () => {
  ;({ modelId } = await readTemplateModel())
  shipped = calibrationOf(modelId) ?? assert.fail('the model has a table')
  gallery = await startGallery({
    environment: { COMPREFACE_API: 'on' },
    models: { active: modelId },
    calibrations: createCalibrations(shipped),
    onAnalyze: async () => {
      const job = whileAnalyzing
      whileAnalyzing = undefined
      await job?.()
    },
  })
  client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId, accountId } = client.project
  const people = Array.from({ length: 199 }, (_, number) => ({
    externalId: `person-${number}`,
    groups: [number % 2 === 0 ? 'crew' : 'guests'],
    templates: [templateOf({ name: `person ${number}` })],
  }))
  await fillTemplates(gallery, { projectId, accountId }, people)
})
after(() => gallery[Symbol.asyncDispose]())

function templateOf(person: FakePerson) {
  return { modelId, vector: embeddingOf(person, modelId), density: 0 }
}

const run = (options = '') =>
  runJson(gallery.dataDir, calibrate, `--project ${client.project.projectId}${options}`)

/** The probe of these tests: an image of person 3 that differs from the enrolled one. */
const probe: FakePerson = { name: 'person 3', deviation: 1, take: 7 }
const verifyProbe = () =>
  client.value('svc.verify', { ...imageParams(probe), externalId: 'person-3' })

/** Waits until the running server uses a table of this source. */
async function waitForSource(source: 'gallery' | 'model'): Promise<void> {
  const endMs = performance.now() + 60_000
  while ((await verifyProbe()).calibration !== source) {
    assert.ok(performance.now() < endMs, `the server does not use the table of the ${source}`)
    await sleep(100)
  }
}

async function tableInUse() {
  const { store } = gallery.database
  const rows = await store.read((tx) => findGalleryCalibrations(tx, client.project.projectId))
  const row = rows.find(({ endedAtUtc }) => endedAtUtc === null)
  assert.ok(row)
  return { row, table: parseCalibration(row.definition, 'the row') }
}

test('199 subjects are refused for 1e-3, and 200 for 1e-5, with the rule and the remedy', async () => {
  await assert.rejects(
    run(),
    /199 subjects that can be compared; a false-match rate of 1e-3 needs at least 200: enroll 1 more/u,
  )
  await client.value('svc.enroll', { ...imageParams('person 199'), externalId: 'person-199' })
  await assert.rejects(run(' --down-to 1e-5'), /1e-5 needs at least 633: .* --down-to 1e-4/u)
  await assert.rejects(run(' --down-to 0.5'), /--down-to must be one of 1e-3, /u)
  await assert.rejects(run(' --out curve.pdf'), /must end in \.svg or \.png/u)
  const report = await run()
  assert.deepEqual(
    [report.subjects, report.templates, report.pairs, report.lowestFmr, report.applied],
    [200, 200, 19_900, 1e-4, null],
  )
  assert.deepEqual(
    report.points.map(({ source }: { source: string }) => source),
    ['counted', 'counted', 'counted', 'extrapolated', 'model', 'model'],
  )
  // The score is rounded, so the 20th pair can be on either side.
  assert.ok([19, 20].includes(report.points[2].pairsAbove))
  const groups = report.groups.map((row: { groups: string[] }) => row.groups.join())
  assert.deepEqual(groups, ['crew,crew', 'crew,guests', 'guests,guests'])
})

test('An applied table changes all similarities of its gallery; a revert restores them', async () => {
  const curve = path.join(gallery.dataDir, 'curve.svg')
  const before = await verifyProbe()
  assert.equal(before.calibration, 'model')
  const expectedBefore = similarityAt(scoreOfProbe(), shipped)
  assert.ok(Math.abs(before.similarity - expectedBefore) < 1e-3)

  const report = await run(` --apply --out ${curve}`)
  assert.match(await readFile(curve, 'utf8'), /gallery table/u)
  await waitForSource('gallery')
  const { row, table } = await tableInUse()
  assert.equal(row.calibrationId, report.applied.calibrationId)
  assert.deepEqual([row.appliedBy, row.subjects, row.pairs], ['command line', 200, 19_900])
  const expected = similarityAt(scoreOfProbe(), table)
  assert.ok(Math.abs(expected - expectedBefore) > 0.2, 'the test can see the difference')
  await assertSimilarities(expected)
  await assertOtherGalleries()
  await assertAudited('calibration.apply')

  assert.equal((await run(' --revert')).reverted.length, 1)
  await waitForSource('model')
  assert.equal((await verifyProbe()).similarity, before.similarity)
  await assertAudited('calibration.revert')
  await assert.rejects(run(' --revert'), /uses the table of the model already/u)
  const shown = await run(' --show')
  assert.equal(shown.calibration, 'model')
  assert.deepEqual(
    shown.tables.map(({ state, endedBy }: Record<string, string>) => [state, endedBy]),
    [['ended', 'command line']],
  )
})

function scoreOfProbe(): number {
  const [a, b] = [templateOf(probe).vector, templateOf({ name: 'person 3' }).vector]
  return -a.reduce((sum, value, index) => sum + (value - (b[index] ?? 0)) ** 2, 0)
}

/** Every action and route that returns a similarity to the enrolled image of person 3. */
async function assertSimilarities(expected: number): Promise<void> {
  const isExpected = (similarity: number, name: string): void =>
    assert.ok(Math.abs(similarity - expected) < 1e-3, `${name}: ${similarity}, not ${expected}`)
  isExpected((await verifyProbe()).similarity, 'svc.verify with a subject')
  const { bytes, contentType } = fakeImage(probe)
  const images = [fakeImage(probe), fakeImage('person 3')].map((image) => ({
    kind: 'image',
    contentType,
    bytes: image.bytes.toString('base64'),
  }))
  const compared = await client.value('svc.verify', { images })
  assert.equal(compared.calibration, 'gallery')
  assert.deepEqual(compared.thresholds, { fmr1e3: 0.7, fmr1e4: 0.8, fmr1e5: 0.9, fmr1e6: 0.95 })
  isExpected(compared.similarity, 'svc.verify with an image')

  const identify = { ...imageParams(probe), threshold: 0.5 }
  const identified = await client.value('svc.identify', identify)
  assert.equal(identified.calibration, 'gallery')
  isExpected(identified.bestMatch.similarity, 'svc.identify')
  const enroll = { ...imageParams(probe), externalId: 'twice', duplicateThreshold: 0.5 }
  const { duplicates, subjectId } = await client.value('svc.enroll', enroll)
  isExpected(duplicates[0].similarity, 'svc.enroll')
  await client.value('svc.deleteSubject', { subjectId })

  const form = new FormData()
  form.set('source_image', new Blob([new Uint8Array(bytes)]), 'a.jpg')
  form.set('target_image', new Blob([new Uint8Array(fakeImage('person 3').bytes)]), 'b.jpg')
  const headers = { 'x-api-key': client.key }
  const address = `${client.url}/api/v1/verification/verify`
  const response = await fetch(address, { method: 'POST', headers, body: form })
  const body = (await response.json()) as {
    result: [{ face_matches: [{ similarity: number }] }]
  }
  isExpected(body.result[0].face_matches[0].similarity, 'the verification of CompreFace')
}

async function assertOtherGalleries(): Promise<void> {
  await gallery.value('svc.enroll', { ...imageParams('person 3'), externalId: 'person-3' })
  const value = await gallery.value('svc.verify', {
    ...imageParams(probe),
    externalId: 'person-3',
  })
  assert.equal(value.calibration, 'model')
  assert.ok(Math.abs(value.similarity - similarityAt(scoreOfProbe(), shipped)) < 1e-3)
}

async function assertAudited(auditAction: string): Promise<void> {
  const { db } = gallery.database.store
  const query = db.selectFrom('auditLog').selectAll()
  const rows = await query.where('auditAction', '=', auditAction).execute()
  assert.deepEqual(
    rows.map(({ target, userName }) => [target, userName]),
    [[client.project.projectId, 'command line']],
  )
  assert.deepEqual(await findBrokenAuditEntries(db), [])
}

test('A call uses one table, even if another one is applied while it runs', async () => {
  const before = await verifyProbe()
  whileAnalyzing = async () => {
    await run(' --apply')
    await gallery.openedGallery.maintenance.refreshCalibrations()
  }
  const during = await verifyProbe()
  assert.deepEqual([during.calibration, during.similarity], ['model', before.similarity])
  assert.equal((await verifyProbe()).calibration, 'gallery')
  await run(' --revert')
  await waitForSource('model')
})

test('A person enrolled twice is listed and excluded only when the owner confirms the pair', async () => {
  const twice = { ...imageParams({ name: 'person 5', deviation: 0.5 }), externalId: 'person-5b;=1' }
  const { subjectId } = await client.value('svc.enroll', twice)
  const file = path.join(gallery.dataDir, 'pairs.csv')
  const found = await run(` --suspects ${file}`)
  const [pair] = found.suspectedDuplicates
  const ids = new Set([pair.subjectA.externalId, pair.subjectB.externalId])
  assert.deepEqual(ids, new Set(['person-5', 'person-5b;=1']))
  assert.ok(pair.expected < 0.1)
  assert.ok(found.suspectedDuplicates.length <= 4, 'few pairs are listed by chance')
  assert.ok(found.points[3].scoreWithoutSuspected < found.points[3].score)

  assert.deepEqual((await run(` --exclude ${file}`)).excluded, [], 'no pair is confirmed')
  const [head = '', first = ''] = (await readFile(file, 'utf8')).split('\n')
  assert.match(first, /person-5b;'=1/u, 'a formula stays text, also after a semicolon')
  await writeFile(file, `${head}\n${first}yes\n`)
  await assert.rejects(run(` --suspects ${file}`), /pairs\.csv exists already/u)
  const excluded = await run(` --exclude ${file}`)
  assert.equal(excluded.excluded.length, 1)
  assert.equal(excluded.pairs, found.pairs - 1)
  assert.equal(excluded.points[3].scoreWithExcluded, found.points[3].score)
  assert.ok(excluded.points[3].score < found.points[3].score)

  await writeFile(file, 'subjectA,subjectB,samePerson\nperson-1,person-2,yes\n')
  await assert.rejects(run(` --exclude ${file}`), /pairs\.csv:2: .* not a suspected duplicate/u)
  await writeFile(file, 'subjectA,subjectB,samePerson\nperson-1,missing,yes\n')
  await assert.rejects(run(` --exclude ${file}`), /no comparable subject with the id missing/u)
  await writeFile(file, 'subjectA,subjectB,samePerson\nperson-1,person-2,maybe\n')
  await assert.rejects(run(` --exclude ${file}`), /pairs\.csv:2: .* yes, no or nothing/u)
  await client.value('svc.deleteSubject', { subjectId })
})

test('A table of another model has no effect, and the command reports it', async () => {
  const { projectId } = client.project
  const { store } = gallery.database
  await store.write((tx) =>
    addCalibration(tx, {
      calibrationId: 'other',
      galleryId: projectId,
      modelId: 'other@1',
      subjects: 200,
      pairs: 19_900,
      definition: JSON.stringify({ ...shipped, modelId: 'other@1', populations: undefined }),
      appliedAtUtc: new Date().toISOString(),
      appliedBy: 'Olga',
    }),
  )
  await gallery.openedGallery.maintenance.refreshCalibrations()
  assert.equal((await verifyProbe()).calibration, 'model')
  const shown = await run(' --show')
  assert.equal(shown.calibration, 'model')
  assert.equal(shown.tables[0].state, 'other model')
})

test('The text report describes sources, suspects and groups', async () => {
  const [text = ''] = await runLines(
    gallery.dataDir,
    calibrate,
    `--project ${client.project.projectId}`,
  )
  assert.match(text, /^counted: 1e-1, 1e-2, 1e-3$/mu)
  assert.match(text, /^extrapolated: 1e-4, from the 100 highest scores \(rate 5\.0e-3, /mu)
  assert.match(text, /^not measured: 1e-5 needs 633 subjects, the gallery has 200/mu)
  assert.match(text, /^crew and guests +\d+/mu)
  assert.match(text, /duplicateCheck/u)
})

test('A backup contains the tables', async (t) => {
  if (isOnPostgres()) return t.skip('the database server makes backups')
  const copy = path.join(gallery.dataDir, 'copy.db')
  await runJson(gallery.dataDir, backup, `--to ${copy}`)
  using database = new DatabaseSync(copy, { readOnly: true })
  const ids = (rows: readonly object[]) => rows.map((row) => ({ ...row }))
  const selected = 'select calibrationId, definition from galleryCalibrations order by 1'
  const { db } = gallery.database.store
  const expected = db.selectFrom('galleryCalibrations').select(['calibrationId', 'definition'])
  const stored = ids(await expected.orderBy('calibrationId').execute())
  assert.ok(stored.length > 1)
  assert.deepEqual(ids(database.prepare(selected).all()), stored)
})
