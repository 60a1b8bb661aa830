import assert from 'node:assert/strict'
import { queries } from './tracked-queries.ts'
import {
  enrollSubject,
  createProjectGallery,
  assertSameValues,
  type StoreFixture,
} from './store-fixture.ts'

const ciphertext = Buffer.from('sealed')
const pastUtc = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString()

export const galleriesContract = {
  'subjects are found by every filter, in pages': async (world: StoreFixture) => {
    const { store, project } = world
    const galleryId = project.projectId
    await createProjectGallery(world)
    await enrollSubject(world, 's-b', {
      externalId: 'E_1',
      displayName: 'Zoë 100%',
      createdAtUtc: pastUtc(2),
    })
    await enrollSubject(world, 's-a', {
      externalId: 'E-2',
      displayName: 'ann',
      createdAtUtc: pastUtc(2),
    })
    await enrollSubject(world, 's-c', {
      createdAtUtc: pastUtc(1),
      expiresAtUtc: pastUtc(9),
      lastSeenAtUtc: pastUtc(3),
    })
    await assert.rejects(enrollSubject(world, 's-d', { externalId: 'E_1' }), /unique/iu)
    await store.write(async (tx) => {
      const of = { galleryId, subjectId: 's-a' }
      await queries.addGroups(tx, of, ['Staff', 'guests', 'B_2'])
      await queries.addGroups(tx, of, ['Staff'])
      await queries.addGroups(tx, { galleryId, subjectId: 's-b' }, ['Staff'])
      await queries.removeGroups(tx, of, ['guests'])
      await queries.addGroups(tx, of, [])
      await queries.removeGroups(tx, of, [])
      await queries.updateSubjectRow(tx, 's-a', { displayName: 'Ann', attributes: '{"a":1}' })
      await queries.touchSubjects(tx, ['s-c', 's-a'], pastUtc(4))
      await queries.touchSubjects(tx, [], pastUtc(4))
    })
    await store.read(async (reading) => {
      const found = async (filter: object) =>
        (await queries.findSubjects(reading, { galleryId, limit: 9, ...filter })).map(
          (row) => row.subjectId,
        )
      assertSameValues(await found({}), ['s-c', 's-a', 's-b'])
      assertSameValues(await found({ text: 'ANN' }), ['s-a'])
      assertSameValues(await found({ text: 'e_' }), ['s-b'], '_ is a letter like others')
      assertSameValues(await found({ text: '0%' }), ['s-b'])
      assertSameValues(await found({ text: String.raw`\ ` }), [])
      assertSameValues(await found({ externalId: 'E-2', group: 'Staff' }), ['s-a'])
      assertSameValues(await found({ createdFromUtc: pastUtc(2), createdToUtc: pastUtc(3) }), [
        's-a',
        's-b',
      ])
      const [, after] = await queries.findSubjects(reading, { galleryId, limit: 2 })
      assertSameValues(await found({ after }), ['s-b'])
      assert.equal(
        (await queries.findSubject(reading, galleryId, { subjectId: 'S-A' }))?.attributes,
        '{"a":1}',
      )
      assert.equal(
        (await queries.findSubject(reading, galleryId, { externalId: 'E_1' }))?.subjectId,
        's-b',
      )
      assert.equal(await queries.findSubject(reading, 'other', { subjectId: 's-a' }), undefined)
      const idsOf = (rows: readonly { readonly subjectId: string }[]) =>
        rows.map((row) => row.subjectId)
      const manyIds = Array.from({ length: 500 }, (_, index) => `none-${index}`)
      const byIds = await queries.findSubjectsByIds(reading, galleryId, ['s-c', 's-a', ...manyIds])
      assertSameValues(idsOf(byIds).toSorted(), ['s-a', 's-c'])
      assertSameValues(await queries.findSubjectsByIds(reading, galleryId, []), [])
      assertSameValues(await queries.findSubjectsByIds(reading, 'other', ['s-a']), [])
      assertSameValues(idsOf(await queries.findSubjectsInGroup(reading, galleryId, 'B_2')), ['s-a'])
      assertSameValues(idsOf(await queries.findExpiredSubjects(reading, pastUtc(9), 9)), ['s-c'])
      assertSameValues(idsOf(await queries.findExpiredSubjects(reading, pastUtc(8), 9)), [])
      const unseen = { projectId: project.projectId, beforeUtc: pastUtc(5), limit: 9 }
      assertSameValues(idsOf(await queries.findUnseenSubjects(reading, unseen)), ['s-c'])
      assert.equal((await queries.findSubjectsByKey(reading, 'wrapping', 2)).length, 2)
      const groups = await queries.findSubjectGroups(reading, ['s-a', 's-c'])
      assertSameValues(
        [...groups],
        [
          ['s-a', ['B_2', 'Staff']],
          ['s-c', []],
        ],
      )
      assertSameValues(await queries.listGroups(reading, galleryId), [
        { name: 'B_2', subjectCount: 1 },
        { name: 'Staff', subjectCount: 2 },
      ])
      const part = async (of: object) =>
        (await queries.listGroups(reading, galleryId, of)).map((row) => row.name)
      assertSameValues(await part({ text: 'STA' }), ['Staff'])
      assertSameValues(await part({ text: '_' }), ['B_2'])
      assertSameValues(await part({ after: 'B_2', limit: 1 }), ['Staff'])
      assertSameValues(await part({ name: 'staff' }), [])
    })
  },

  'changes of a gallery are numbered and told in their order': async (world: StoreFixture) => {
    const { store, project, accountId } = world
    const galleryId = project.projectId
    await createProjectGallery(world)
    for (const subjectId of ['s1', 's2', 's3']) await enrollSubject(world, subjectId)
    const first = { sequence: 0, faceId: queries.afterAllFaceIds }
    const changes = (place = first, limit = 9) =>
      store.read(async (reading) =>
        (await queries.findFaceChanges(reading, galleryId, place, limit)).map(
          ({ sequence, faceId, face }) =>
            `${sequence} ${faceId} ${face?.templates.length ?? 'gone'}`,
        ),
      )
    assertSameValues(await changes(), ['1 face of s1 1', '2 face of s2 1', '3 face of s3 1'])
    assertSameValues(await changes({ sequence: 1, faceId: 'face of s1' }, 1), ['2 face of s2 1'])
    await store.write(async (tx) => {
      await queries.lockProjectGallery(tx, project.projectId)
      const sequence = await queries.recordGalleryChange(tx, { galleryId, subjects: -1, faces: -1 })
      await queries.removeFaces(tx, { galleryId, sequence }, ['face of s2'])
      await queries.removeFaces(tx, { galleryId, sequence }, [])
      await queries.removeSubject(tx, 's2')
      await queries.markSubjectFacesChanged(tx, 's1', sequence)
      await queries.markFaceChanged(tx, 'face of s3', sequence + 1)
    })
    assertSameValues(await changes({ sequence: 3, faceId: queries.afterAllFaceIds }), [
      '4 face of s1 1',
      '4 face of s2 gone',
      '5 face of s3 1',
    ])
    await store.read(async (reading) => {
      assertSameValues(await queries.findGallery(reading, galleryId), {
        galleryId,
        accountId,
        sequence: 4,
        subjectCount: 2,
        templateCount: 2,
      })
      assertSameValues(await queries.listGalleryIds(reading), [galleryId])
      assert.equal((await queries.findGallerySize(reading, 'none')).templateCount, 0)
      assert.equal((await queries.findSubjectFaces(reading, 's1')).length, 1)
      const counts = await queries.faceCounts(reading, ['s1', 's2'])
      assertSameValues([...counts], [['s1', 1]])
      const faces = await queries.findFaces(reading, { galleryId, offset: 1, limit: 5 })
      assertSameValues(faces, [{ faceId: 'face of s3', subjectId: 's3', externalId: null }])
      const one = await queries.findFaces(reading, {
        galleryId,
        subjectId: 's1',
        faceId: 'FACE OF S1',
        limit: 1,
      })
      assert.equal(one.length, 1)
      const facts = await queries.findProjectSummaries(reading, accountId)
      assertSameValues(
        facts.map((row) => [row.keyCount, row.subjectCount, row.galleryId]),
        [[1, 2, galleryId]],
      )
      assertSameValues(await queries.findGallerySummaries(reading, accountId), [
        { galleryId, projectName: 'default', subjectCount: 2, templateCount: 2 },
      ])
    })
    await store.write(queries.deleteRemovals)
    assert.equal((await changes()).length, 2)
    assertSameValues(await queries.findAuditViolations(store.db, 'halved', 0), [])
  },

  'templates of several models and crops hang on their face': async (world: StoreFixture) => {
    const { store, project, accountId } = world
    await createProjectGallery(world)
    await enrollSubject(world, 'both', { models: ['old', 'active'] })
    const { faceId } = await enrollSubject(world, 'behind', { models: ['old'] })
    const { projectId } = project
    await store.write((tx) => queries.addCrop(tx, { faceId, projectId, sealed: ciphertext }))
    await store.read(async (reading) => {
      const templates = await queries.findSubjectTemplates(reading, 'both')
      assertSameValues(
        templates.map((row) => [row.modelId, row.galleryId, row.keyId]),
        [
          ['active', projectId, 'wrapping'],
          ['old', projectId, 'wrapping'],
        ],
      )
      assert.equal((await queries.findFaceTemplates(reading, [faceId, 'none'])).length, 1)
      assertSameValues(await queries.findFaceTemplates(reading, []), [])
      assertSameValues(
        Buffer.from((await queries.findCrop(reading, faceId))?.sealed ?? []),
        ciphertext,
      )
      assertSameValues(
        await queries.findFacesToReEmbed(reading, { modelId: 'active', afterFaceId: '', limit: 9 }),
        [faceId],
      )
      assert.equal((await queries.findReEmbedSource(reading, faceId))?.templates.length, 1)
      assertSameValues(await queries.findModelCoverage(reading, 'active'), {
        comparableFaces: 1,
        remakeableFaces: 1,
        waitingFaces: 0,
        notComparableSubjects: 1,
      })
      assert.equal(await queries.countNotComparable(reading, 'active'), 1)
      assertSameValues(
        [...(await queries.templateCountsByModel(reading))],
        [
          ['active', 1],
          ['old', 2],
        ],
      )
      const counts = await queries.countAccountTemplates(reading, accountId)
      assertSameValues(
        counts.toSorted((a, b) => (a.modelId < b.modelId ? -1 : 1)),
        [
          { modelId: 'active', faces: 1 },
          { modelId: 'old', faces: 2 },
        ],
      )
      assertSameValues(
        await queries.findRetirementImpact(reading, { modelId: 'old', activeModelId: 'active' }),
        {
          templates: 2,
          dependentSubjects: 1,
          facesOfItAlone: 0,
        },
      )
    })
    const retired = await queries.retireTemplates(
      store,
      { modelId: 'old', activeModelId: 'active' },
      () => {},
    )
    assertSameValues(retired, { templates: 1, faces: 0 })
    assert.equal(await queries.removeCrops(store, projectId), 1)
    assert.equal(await queries.removeCrops(store, projectId), 0)
  },
}
