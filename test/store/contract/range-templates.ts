import assert from 'node:assert/strict'
import { queries } from './tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  type StoreFixture,
} from './store-fixture.ts'

export const rangeTemplatesContract = {
  'the templates of a range of changes are found with the keys of their subjects': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    const faces = [
      await enrollSubject(fixture, 's-1', { models: ['net@1'] }),
      await enrollSubject(fixture, 's-2', { models: [] }),
      await enrollSubject(fixture, 's-3', { models: ['net@2'] }),
    ]
    const faceIds = faces.slice(0, 2).map(({ faceId }) => faceId)
    await store.write(async (tx) => {
      for (const subjectId of ['s-1', 's-2'])
        await queries.markSubjectChanged(tx, { subjectId, sequence: 7 })
    })
    const after = { sequence: 6, subjectId: queries.afterAllSubjectIds }
    const { subjects } = await store.read((tx) =>
      queries.findSubjectChanges(tx, galleryId, after, 9),
    )
    assertSameValues(
      subjects.map(({ subjectId, templates }) => [subjectId, templates.length]),
      [
        ['s-1', 1],
        ['s-2', 0],
      ],
    )
    const rangeEnd = (from: number, sequenceMax = 7) =>
      store.read((tx) =>
        queries.findFaceRangeEnd(tx, { galleryId, after: from }, { faces: 2, sequenceMax }),
      )
    assertSameValues(await rangeEnd(6), { to: 7, isFull: true })
    assertSameValues(await rangeEnd(0, 6), { to: 3, isFull: false })
    assert.equal(await rangeEnd(7), undefined)
    assert.equal(await rangeEnd(3, 6), undefined)
    const inRange = await store.read((tx) =>
      queries.findRangeTemplates(tx, { galleryId, after: 6, to: 7 }),
    )
    assertSameValues([...new Set(inRange.map(({ faceId }) => faceId))], [faceIds[0]])
    // The joined columns contain the same values as the rows.
    const whole = { galleryId, after: 0, to: 7 }
    const joined = await store.read((tx) => queries.findRangeTemplates(tx, whole))
    const allIds = faces.map(({ faceId }) => faceId)
    const rows = await store.read((tx) => queries.findFaceTemplates(tx, allIds))
    assert.equal(rows.length, 2)
    assertSameValues(byFaceAndModel(joined), byFaceAndModel(rows))
    const empty = { galleryId, after: 7, to: 7 }
    assertSameValues(await store.read((tx) => queries.findRangeTemplates(tx, empty)), [])
  },
  'the faces of subjects are found once for each model': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 'several', { models: ['old', 'active'] })
    await enrollSubject(fixture, 'none', { models: [] })
    await store.read(async (tx) => {
      const models = await queries.findFaceModels(tx, ['none', 'several'])
      const found = models.map(({ subjectId, modelId }) => `${subjectId}: ${modelId}`)
      assertSameValues(found.toSorted(), ['none: ', 'several: active', 'several: old'])
      assertSameValues(await queries.findFaceModels(tx, []), [])
      const galleryId = project.projectId
      const named = await queries.findSubjectNames(tx, galleryId, ['several', 'unknown'])
      const [several] = await queries.findSubjectsByIds(tx, galleryId, ['several'])
      const { subjectId, externalId = null, displayName = null, expiresAtUtc } = several ?? {}
      assertSameValues(named, [{ subjectId, externalId, displayName, expiresAtUtc }])
      assertSameValues(await queries.findSubjectNames(tx, galleryId, []), [])
    })
  },
}

type ContractTemplate = Awaited<ReturnType<typeof queries.findRangeTemplates>>[number]

function byFaceAndModel(rows: readonly ContractTemplate[]) {
  const keyOf = ({ faceId, modelId }: ContractTemplate) => `${faceId} ${modelId}`
  return rows
    .map((row) => ({
      ...row,
      ciphertext: Buffer.from(row.ciphertext),
      wrappedKey: Buffer.from(row.wrappedKey),
    }))
    .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}
