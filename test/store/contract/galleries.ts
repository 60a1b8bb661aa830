import assert from 'node:assert/strict'
import { queries } from './tracked-queries.ts'
import {
  enrollSubject,
  createProjectGallery,
  assertSameValues,
  type StoreFixture,
} from './store-fixture.ts'

const ciphertext = Buffer.from('ciphertext')
const pastUtc = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString()

export const galleriesContract = {
  'subjects are found by every filter, in pages': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    const createdAtUtc = pastUtc(2)
    const zoe = { externalId: 'E_1', displayName: 'Zoë 100%', createdAtUtc }
    await enrollSubject(fixture, 's-b', zoe)
    await enrollSubject(fixture, 's-a', { externalId: 'E-2', displayName: 'ann', createdAtUtc })
    await enrollSubject(fixture, 's-c', {
      createdAtUtc: pastUtc(1),
      expiresAtUtc: pastUtc(9),
      lastSeenAtUtc: pastUtc(3),
    })
    await assert.rejects(enrollSubject(fixture, 's-d', { externalId: 'E_1' }), /unique/iu)
    await store.write(async (tx) => {
      const member = { galleryId, subjectId: 's-a' }
      await queries.addGroups(tx, member, ['Staff', 'guests', 'B_2'])
      await queries.addGroups(tx, member, ['Staff'])
      await queries.addGroups(tx, { galleryId, subjectId: 's-b' }, ['Staff'])
      await queries.removeGroups(tx, member, ['guests'])
      await queries.addGroups(tx, member, [])
      await queries.removeGroups(tx, member, [])
      await queries.updateSubjectRow(tx, 's-a', { displayName: 'Ann', attributes: '{"a":1}' })
      await queries.touchSubjects(tx, ['s-c', 's-a'], pastUtc(4))
      await queries.touchSubjects(tx, [], pastUtc(4))
    })
    await store.read(async (tx) => {
      const find = async (filter: object) =>
        (await queries.findSubjects(tx, { galleryId, limit: 9, ...filter })).map(
          (row) => row.subjectId,
        )
      assertSameValues(await find({}), ['s-c', 's-a', 's-b'])
      assertSameValues(await find({ text: 'ANN' }), ['s-a'])
      assertSameValues(await find({ text: 'e_' }), ['s-b'], '_ is no wildcard')
      assertSameValues(await find({ text: '0%' }), ['s-b'])
      assertSameValues(await find({ text: String.raw`\ ` }), [])
      assertSameValues(await find({ subjectIds: ['s-b', 's-a', 'none'] }), ['s-a', 's-b'])
      const end = await queries.findStepEnd(tx, { galleryId, limit: 9 }, 2)
      assert.equal(end?.subjectId, 's-a')
      assert.equal(await queries.findStepEnd(tx, { galleryId, limit: 9 }, 4), undefined)
      const positions = async (filter: object) =>
        (await queries.findSubjectPositions(tx, { galleryId, limit: 9, upTo: end, ...filter })).map(
          (row) => row.subjectId,
        )
      assertSameValues(await positions({}), ['s-c', 's-a'])
      assertSameValues(await positions({ text: 'a' }), ['s-a'])
      assertSameValues(await positions({ upTo: undefined, after: end }), ['s-b'])
      assertSameValues(await find({ externalId: 'E-2', group: 'Staff' }), ['s-a'])
      assertSameValues(await find({ createdFromUtc: pastUtc(2), createdToUtc: pastUtc(3) }), [
        's-a',
        's-b',
      ])
      const after = { value: end?.value ?? '', subjectId: 's-a' }
      assertSameValues(await find({ after }), ['s-b'])
      const sort = { by: 'updatedAtUtc', isDescending: true } as const
      assertSameValues((await find({ sort })).toSorted(), ['s-a', 's-b', 's-c'])
      const descending = { sort: { by: 'createdAtUtc', isDescending: true } }
      assertSameValues(await find(descending), ['s-b', 's-a', 's-c'])
      assertSameValues(await find({ ...descending, after }), ['s-c'])
      const attribute = { name: 'a', value: '1' }
      assertSameValues(await find({ attribute }), ['s-a'])
      assertSameValues(await queries.findFewIds(tx, { galleryId, attribute }), ['s-a'])
      assert.equal(
        (await queries.findSubject(tx, galleryId, { subjectId: 'S-A' }))?.attributes,
        '{"a":1}',
      )
      assert.equal(
        (await queries.findSubject(tx, galleryId, { externalId: 'E_1' }))?.subjectId,
        's-b',
      )
      assert.equal(await queries.findSubject(tx, 'other', { subjectId: 's-a' }), undefined)
      const idsOf = (rows: readonly { readonly subjectId: string }[]) =>
        rows.map((row) => row.subjectId)
      const manyIds = Array.from({ length: 500 }, (_, index) => `none-${index}`)
      const byIds = await queries.findSubjectsByIds(tx, galleryId, ['s-c', 's-a', ...manyIds])
      assertSameValues(idsOf(byIds).toSorted(), ['s-a', 's-c'])
      assertSameValues(await queries.findSubjectsByIds(tx, galleryId, []), [])
      assertSameValues(await queries.findSubjectsByIds(tx, 'other', ['s-a']), [])
      const group = { galleryId, name: 'B_2' }
      const member = await queries.findSubjectsInGroup(tx, group, { after: undefined, limit: 1 })
      assertSameValues(idsOf(member), ['s-a'])
      const rest = await queries.findSubjectsInGroup(tx, group, { after: member[0], limit: 1 })
      assertSameValues(idsOf(rest), [])
      for (const [nowUtc, ids] of [
        [pastUtc(8), ['s-c', 's-a', 's-b']],
        [pastUtc(9), ['s-a', 's-b']],
      ] as const) {
        const expired = await tx.run(queries.selectExpiredIds(tx.build, { galleryId, nowUtc }))
        assertSameValues(expired.length, 3 - ids.length)
        const subjects = tx.build.selectFrom('subjects').select('subjectId')
        const left = subjects.where('galleryId', '=', galleryId).where(queries.isUnexpired(nowUtc))
        assertSameValues((await tx.run(left)).length, ids.length)
        const due = { projectId: project.projectId, beforeUtc: nowUtc, limit: 9 }
        assertSameValues((await queries.findExpiredSubjects(tx, due)).length, 3 - ids.length)
        const templates = await queries.findExpiredTemplates(tx, { galleryId, nowUtc })
        assertSameValues(templates.length, 3 - ids.length)
        assertSameValues(await find({ unexpiredAtUtc: nowUtc }), ids)
        const unexpired = { galleryId, nowUtc }
        assertSameValues(await queries.countUnexpiredSubjects(tx, unexpired), ids.length)
        assertSameValues(await queries.countUnexpiredFaces(tx, unexpired), ids.length)
        const faces = await queries.findFaces(tx, { galleryId, unexpiredAtUtc: nowUtc, limit: 9 })
        assertSameValues(faces.length, ids.length)
      }
      const noGallery = { galleryId: 'other', nowUtc: pastUtc(9) }
      assert.equal(await queries.countUnexpiredSubjects(tx, noGallery), 0)
      const unseen = { projectId: project.projectId, beforeUtc: pastUtc(5), limit: 9 }
      assertSameValues(idsOf(await queries.findUnseenSubjects(tx, unseen)), ['s-c'])
      assertSameValues(await queries.countUnseenSubjects(tx, unseen), {
        total: 1,
        isCapped: false,
      })
      assert.equal((await queries.findSubjectsByKey(tx, 'wrapping', 2)).length, 2)
      const groups = await queries.findSubjectGroups(tx, ['s-a', 's-c'])
      assertSameValues(
        [...groups],
        [
          ['s-a', ['B_2', 'Staff']],
          ['s-c', []],
        ],
      )
    })
    const expiring = { expiresAtUtc: pastUtc(9) }
    await store.write((tx) => queries.updateSubjectRow(tx, 's-a', expiring))
    const unexpired = { unexpiredAtUtc: pastUtc(9) }
    const groups = await queries.listGroups(store, galleryId, unexpired)
    assertSameValues(groups, [{ name: 'Staff', subjectCount: 1 }])
    await store.read(async (tx) => {
      const count = (name: string) => queries.countGroup(tx, galleryId, { ...unexpired, name })
      assertSameValues([await count('Staff'), await count('B_2')], [1, 0])
      const has = (name?: string) =>
        queries.hasGroup(tx, galleryId, { ...unexpired, ...(name !== undefined && { name }) })
      assertSameValues([await has(), await has('Staff'), await has('B_2')], [true, true, false])
      const names = ['B_2', 'none', 'Staff']
      const find = (age: number) => queries.findGroupNames(tx, galleryId, names, pastUtc(age))
      assertSameValues([await find(9), await find(8)], [['Staff'], ['B_2', 'Staff']])
    })
  },

  'changes of a gallery are numbered and returned in their order': async (
    fixture: StoreFixture,
  ) => {
    const { store, project, accountId } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    for (const subjectId of ['s1', 's2', 's3']) await enrollSubject(fixture, subjectId)
    const start = { sequence: 0, subjectId: queries.afterAllSubjectIds }
    const changes = (cursor = start, limit = 9) =>
      store.read(async (tx) => {
        const { subjects, next } = await queries.findSubjectChanges(tx, galleryId, cursor, limit)
        const found = subjects.map(
          ({ sequence, subjectId, templates }) => `${sequence} ${subjectId} ${templates.length}`,
        )
        return next ? [...found, `then after ${next.sequence} ${next.subjectId}`] : found
      })
    assertSameValues(await changes(), ['1 s1 1', '2 s2 1', '3 s3 1'])
    const first = await changes({ sequence: 1, subjectId: 's1' }, 1)
    assertSameValues(first, ['2 s2 1', 'then after 2 s2'])
    await store.write(async (tx) => {
      await queries.lockProjectGallery(tx, project.projectId)
      const sequence = await queries.recordGalleryChange(tx, { galleryId, subjects: -1, faces: -1 })
      const change = { galleryId, subjectId: 's2', sequence }
      await queries.removeFaces(tx, change, ['face of s2'])
      await queries.removeFaces(tx, change, [])
      await queries.removeSubject(tx, 's2')
      await queries.markSubjectChanged(tx, { subjectId: 's1', sequence })
      await queries.markSubjectChanged(tx, { subjectId: 's3', sequence: sequence + 1 })
    })
    const afterThird = { sequence: 3, subjectId: queries.afterAllSubjectIds }
    assertSameValues(await changes(afterThird), ['4 s1 1', '4 s2 0', '5 s3 1'])
    await store.read(async (tx) => {
      assertSameValues(await queries.findGallery(tx, galleryId), {
        hasDenials: store.isShared ? false : 0,
        galleryId,
        accountId,
        sequence: 4,
        subjectCount: 2,
        templateCount: 2,
        removalsDeletedTo: 0,
      })
      assertSameValues(await queries.listGalleryIds(tx), [galleryId])
      assert.equal(await queries.findGallery(tx, 'none'), undefined)
      assert.equal((await queries.findSubjectFaces(tx, 's1')).length, 1)
      const counts = await queries.faceCounts(tx, ['s1', 's2'])
      assertSameValues([...counts], [['s1', 1]])
      const faces = await queries.findFaces(tx, { galleryId, offset: 1, limit: 5 })
      assertSameValues(faces, [{ faceId: 'face of s3', subjectId: 's3', externalId: null }])
      const matching = await queries.findFaces(tx, {
        galleryId,
        subjectId: 's1',
        faceId: 'FACE OF S1',
        limit: 1,
      })
      assert.equal(matching.length, 1)
      const summaries = await queries.findProjectSummaries(tx, accountId)
      assertSameValues(
        summaries.map((row) => [row.keyCount, row.subjectCount, row.galleryId]),
        [[1, 2, galleryId]],
      )
      assertSameValues(await queries.findGallerySummaries(tx, accountId), [
        { galleryId, projectName: 'default', subjectCount: 2, templateCount: 2 },
      ])
    })
    assertSameValues(await store.read(queries.findRemovalWatermarks), [{ galleryId, sequence: 4 }])
    await store.write((tx) => queries.deleteRemovals(tx, { galleryId, sequence: 3 }))
    assert.equal((await changes()).length, 3)
    await store.write((tx) => queries.deleteRemovals(tx, { galleryId, sequence: 4 }))
    assert.equal((await changes()).length, 2)
    assertSameValues(await store.read(queries.findRemovalWatermarks), [])
    const gallery = await store.read((tx) => queries.findGallery(tx, galleryId))
    assert.equal(gallery?.removalsDeletedTo, 4)
    assertSameValues(await queries.findAuditViolations(store.db, 'incomplete', 0), [])
  },

  'a face has templates of several models and a crop': async (fixture: StoreFixture) => {
    const { store, project, accountId } = fixture
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 'both', { models: ['old', 'active'] })
    const { faceId } = await enrollSubject(fixture, 'behind', { models: ['old'] })
    const { projectId } = project
    await store.write((tx) => queries.addCrop(tx, { faceId, projectId, ciphertext }))
    await store.read(async (tx) => {
      const cropped = { subjectId: 'behind', faceId }
      assertSameValues(await queries.findCroppedFaces(tx, ['both', 'behind']), [cropped])
      assertSameValues(await queries.findCroppedFaces(tx, []), [])
      assert.equal((await queries.findSubjectCrop(tx, cropped))?.projectId, projectId)
      assert.equal(await queries.findSubjectCrop(tx, { ...cropped, subjectId: 'both' }), undefined)
      const templates = await queries.findSubjectTemplates(tx, ['both'])
      assertSameValues(
        templates.map((row) => [row.modelId, row.galleryId, row.keyId]),
        [
          ['active', projectId, 'wrapping'],
          ['old', projectId, 'wrapping'],
        ],
      )
      assert.equal((await queries.findFaceTemplates(tx, [faceId, 'none'])).length, 1)
      assertSameValues(await queries.findFaceTemplates(tx, []), [])
      const crop = await queries.findCrop(tx, faceId)
      assertSameValues(Buffer.from(crop?.ciphertext ?? []), ciphertext)
      assertSameValues(
        await queries.findFacesToReEmbed(tx, { modelId: 'active', afterFaceId: '', limit: 9 }),
        [faceId],
      )
      assert.equal((await queries.findReEmbedSource(tx, faceId))?.templates.length, 1)
      assertSameValues(await queries.findModelCoverage(tx, 'active'), {
        comparableFaces: 1,
        remakeableFaces: 1,
        waitingFaces: 0,
        notComparableSubjects: 1,
      })
      assert.equal(await queries.countNotComparable(tx, 'active'), 1)
      assertSameValues(
        [...(await queries.templateCountsByModel(tx))],
        [
          ['active', 1],
          ['old', 2],
        ],
      )
      const counts = await queries.countAccountTemplates(tx, accountId)
      assertSameValues(
        counts.toSorted((a, b) => (a.modelId < b.modelId ? -1 : 1)),
        [
          { modelId: 'active', faces: 1 },
          { modelId: 'old', faces: 2 },
        ],
      )
      assertSameValues(
        await queries.findRetirementImpact(tx, { modelId: 'old', activeModelId: 'active' }),
        {
          templates: 2,
          dependentSubjects: 1,
          facesWithOnlyThisModel: 0,
        },
      )
    })
    const retired = await queries.retireTemplates(store, {
      modelId: 'old',
      activeModelId: 'active',
    })
    assertSameValues(retired, { templates: 1, faces: 0 })
    const countCrops = () => store.read((tx) => queries.countCrops(tx, projectId))
    assertSameValues(await countCrops(), { total: 1, isCapped: false })
    assert.equal(await queries.removeCrops(store, projectId), 1)
    assertSameValues(await countCrops(), { total: 0, isCapped: false })
    assert.equal(await queries.removeCrops(store, projectId), 0)
  },
}
