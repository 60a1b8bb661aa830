import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  addCalibration,
  findGalleryCalibrations,
} from '../../src/store/gallery/calibration/applied-calibrations.ts'
import { assertOk, startConsole, type TestConsole } from '../support/console/test-console.ts'
import {
  changedDecisions,
  similarityAfter,
  thresholdMoves,
} from '../../web/system/calibration/table-changes.ts'
import { addGalleryCalibration } from '../support/gallery/add-gallery-calibration.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole()
})
after(() => testConsole[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, path, body)
const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body

async function runInPlayground(action: string, params: object) {
  const call = { projectId: testConsole.projectId, call: { action, params } }
  return assertOk(await send('POST', '/playground', call)).body
}

test('The models page shows the table of a gallery, and a revert removes it', async () => {
  const { gallery, projectId } = testConsole
  const { store } = gallery.database
  await runInPlayground('svc.enroll', { ...imageParams('Dora'), externalId: 'dora' })
  await addGalleryCalibration(store, projectId, 'people@1')
  await addGalleryCalibration(store, projectId, 'other@1')
  const { galleryCalibrations } = await get('/models')
  const shown = galleryCalibrations.map((row: { modelId: string; isUsed: boolean }) => [
    row.modelId,
    row.isUsed,
  ])
  assert.deepEqual(shown.toSorted(), [
    ['other@1', false],
    ['people@1', true],
  ])
  const used = galleryCalibrations.find(({ isUsed }: { isUsed: boolean }) => isUsed)
  assert.deepEqual(used.projects, [{ projectId, name: 'default' }])
  assert.deepEqual([used.appliedBy, used.subjects, used.pairs], ['Olga', 200, 19_900])
  assert.deepEqual(used.points[3], {
    fmr: 1e-4,
    similarity: 0.8,
    score: used.points[3].modelScore + 0.1,
    source: 'counted',
    modelScore: -1.2,
  })
  const verify = async () => {
    const params = { ...imageParams('Dora'), externalId: 'dora' }
    const { envelope } = await runInPlayground('svc.verify', params)
    return envelope.data.results[0].value.calibration
  }
  await gallery.openedGallery.maintenance.refreshCalibrations()
  assert.equal(await verify(), 'gallery')
  const path = `/projects/${projectId}/calibration/revert`
  assert.equal((await send('POST', path, { confirm: 'other' })).status, 422)
  const { calibrationIds } = assertOk(await send('POST', path, { confirm: 'default' })).body
  assert.equal(calibrationIds.length, 2)
  assert.equal(await verify(), 'model', 'this server needs no refresh')
  assert.deepEqual((await get('/models')).galleryCalibrations, [])
  assert.equal((await send('POST', path, { confirm: 'default' })).status, 409)
})

test('A gallery that is deleted takes its tables with it', async () => {
  const { store } = testConsole.gallery.database
  const { accountId } = await store.db
    .selectFrom('accounts')
    .select('accountId')
    .executeTakeFirstOrThrow()
  const row = { galleryId: 'gone', modelId: 'm', subjects: 1, pairs: 1, definition: '{}' }
  await store.write(async (tx) => {
    await tx.run(tx.build.insertInto('galleries').values({ galleryId: 'gone', accountId }))
    const applied = { appliedAtUtc: new Date().toISOString(), appliedBy: 'Olga' }
    await addCalibration(tx, { ...row, ...applied, calibrationId: 'gone' })
    await tx.run(tx.build.deleteFrom('galleries').where('galleryId', '=', 'gone'))
    assert.deepEqual(await findGalleryCalibrations(tx, 'gone'), [])
  })
})

/** Two tables of one model: the second one needs higher scores. */
const tableBefore = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95].map((similarity, index) => ({
  fmr: 10 ** -(index + 1),
  similarity,
  score: index,
}))
const tableAfter = tableBefore.map((point) => ({ ...point, score: point.score + 0.5 }))

test('A change of the table states how thresholds move and which decisions change', () => {
  assert.deepEqual(
    thresholdMoves(tableBefore, tableAfter).map(({ similarity, scoreBefore, scoreAfter }) => [
      similarity,
      scoreBefore,
      scoreAfter,
    ]),
    [
      [0.7, 2, 2.5],
      [0.8, 3, 3.5],
      [0.9, 4, 4.5],
      [0.95, 5, 5.5],
    ],
  )
  assert.equal(similarityAfter(tableBefore, tableBefore, 0.83).toFixed(6), '0.830000')
  assert.equal(similarityAfter(tableBefore, tableAfter, 0.8).toFixed(6), '0.750000')
  assert.equal(similarityAfter(tableBefore, tableAfter, 0.85).toFixed(6), '0.800000')
  const edges = [0.77, 0.79, 0.81, 0.83, 0.86, 0.88]
  const counts = [7, 5, 3, 2, 1]
  // Similarities from 0.80 to 0.85 no longer match.
  const { total, changed } = changedDecisions(
    { edges, counts },
    { before: tableBefore, after: tableAfter },
    0.8,
  )
  assert.equal(total, 18)
  assert.equal(changed, 10)
  assert.equal(
    changedDecisions({ edges, counts }, { before: tableBefore, after: tableBefore }, 0.8).changed,
    0,
  )
})
