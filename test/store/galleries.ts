import assert from 'node:assert/strict'
import { ask } from './queries.ts'
import { enrol, makeGallery, same, type World } from './world.ts'

const sealed = Buffer.from('sealed')
const past = (day: number): string => new Date(Date.UTC(2026, 0, day)).toISOString()

export const galleries = {
  'subjects are found by every filter, in pages': async (world: World) => {
    const { store, project } = world
    const galleryId = project.projectId
    await makeGallery(world)
    await enrol(world, 's-b', { externalId: 'E_1', displayName: 'Zoë 100%', createdAtUtc: past(2) })
    await enrol(world, 's-a', { externalId: 'E-2', displayName: 'ann', createdAtUtc: past(2) })
    await enrol(world, 's-c', {
      createdAtUtc: past(1),
      expiresAtUtc: past(9),
      lastSeenAtUtc: past(3),
    })
    await assert.rejects(enrol(world, 's-d', { externalId: 'E_1' }), /unique/iu)
    await store.write(async (tx) => {
      const of = { galleryId, subjectId: 's-a' }
      await ask.addGroups(tx, of, ['Staff', 'guests', 'B_2'])
      await ask.addGroups(tx, of, ['Staff'])
      await ask.addGroups(tx, { galleryId, subjectId: 's-b' }, ['Staff'])
      await ask.removeGroups(tx, of, ['guests'])
      await ask.addGroups(tx, of, [])
      await ask.removeGroups(tx, of, [])
      await ask.changeSubject(tx, 's-a', { displayName: 'Ann', attributes: '{"a":1}' })
      await ask.touchSubjects(tx, ['s-c', 's-a'], past(4))
      await ask.touchSubjects(tx, [], past(4))
    })
    await store.read(async (reading) => {
      const found = async (filter: object) =>
        (await ask.findSubjects(reading, { galleryId, limit: 9, ...filter })).map(
          (row) => row.subjectId,
        )
      same(await found({}), ['s-c', 's-a', 's-b'])
      same(await found({ text: 'ANN' }), ['s-a'])
      same(await found({ text: 'e_' }), ['s-b'], '_ is a letter like others')
      same(await found({ text: '0%' }), ['s-b'])
      same(await found({ text: String.raw`\ ` }), [])
      same(await found({ externalId: 'E-2', group: 'Staff' }), ['s-a'])
      same(await found({ createdFromUtc: past(2), createdToUtc: past(3) }), ['s-a', 's-b'])
      const [, after] = await ask.findSubjects(reading, { galleryId, limit: 2 })
      same(await found({ after }), ['s-b'])
      assert.equal(
        (await ask.findSubject(reading, galleryId, { subjectId: 'S-A' }))?.attributes,
        '{"a":1}',
      )
      assert.equal(
        (await ask.findSubject(reading, galleryId, { externalId: 'E_1' }))?.subjectId,
        's-b',
      )
      assert.equal(await ask.findSubject(reading, 'other', { subjectId: 's-a' }), undefined)
      const idsOf = (rows: readonly { readonly subjectId: string }[]) =>
        rows.map((row) => row.subjectId)
      same(idsOf(await ask.subjectsOfGroup(reading, galleryId, 'B_2')), ['s-a'])
      same(idsOf(await ask.expiredSubjects(reading, past(9), 9)), ['s-c'])
      same(idsOf(await ask.expiredSubjects(reading, past(8), 9)), [])
      const unseen = { projectId: project.projectId, beforeUtc: past(5), limit: 9 }
      same(idsOf(await ask.unseenSubjects(reading, unseen)), ['s-c'])
      assert.equal((await ask.subjectsUnderKey(reading, 'wrapping', 2)).length, 2)
      const groups = await ask.groupsOf(reading, ['s-a', 's-c'])
      same(
        [...groups],
        [
          ['s-a', ['B_2', 'Staff']],
          ['s-c', []],
        ],
      )
      same(await ask.listGroups(reading, galleryId), [
        { name: 'B_2', subjectCount: 1 },
        { name: 'Staff', subjectCount: 2 },
      ])
      const part = async (of: object) =>
        (await ask.listGroups(reading, galleryId, of)).map((row) => row.name)
      same(await part({ text: 'STA' }), ['Staff'])
      same(await part({ text: '_' }), ['B_2'])
      same(await part({ after: 'B_2', limit: 1 }), ['Staff'])
      same(await part({ name: 'staff' }), [])
    })
  },

  'changes of a gallery are numbered and told in their order': async (world: World) => {
    const { store, project, accountId } = world
    const galleryId = project.projectId
    await makeGallery(world)
    for (const subjectId of ['s1', 's2', 's3']) await enrol(world, subjectId)
    const first = { sequence: 0, faceId: ask.pastAllFaces }
    const changes = (place = first, limit = 9) =>
      store.read(async (reading) =>
        (await ask.changesAfter(reading, galleryId, place, limit)).map(
          ({ sequence, faceId, face }) =>
            `${sequence} ${faceId} ${face?.templates.length ?? 'gone'}`,
        ),
      )
    same(await changes(), ['1 face of s1 1', '2 face of s2 1', '3 face of s3 1'])
    same(await changes({ sequence: 1, faceId: 'face of s1' }, 1), ['2 face of s2 1'])
    await store.write(async (tx) => {
      await ask.holdGalleryOf(tx, project.projectId)
      const sequence = await ask.countChange(tx, { galleryId, subjects: -1, faces: -1 })
      await ask.removeFaces(tx, { galleryId, sequence }, ['face of s2'])
      await ask.removeFaces(tx, { galleryId, sequence }, [])
      await ask.removeSubject(tx, 's2')
      await ask.renumberFaces(tx, 's1', sequence)
      await ask.renumberFace(tx, 'face of s3', sequence + 1)
    })
    same(await changes({ sequence: 3, faceId: ask.pastAllFaces }), [
      '4 face of s1 1',
      '4 face of s2 gone',
      '5 face of s3 1',
    ])
    await store.read(async (reading) => {
      same(await ask.findGallery(reading, galleryId), {
        galleryId,
        accountId,
        sequence: 4,
        subjectCount: 2,
        templateCount: 2,
      })
      same(await ask.listGalleryIds(reading), [galleryId])
      assert.equal((await ask.gallerySize(reading, 'none')).templateCount, 0)
      assert.equal((await ask.facesOf(reading, 's1')).length, 1)
      const counts = await ask.faceCounts(reading, ['s1', 's2'])
      same([...counts], [['s1', 1]])
      const faces = await ask.findFaces(reading, { galleryId, offset: 1, limit: 5 })
      same(faces, [{ faceId: 'face of s3', subjectId: 's3', externalId: null }])
      const one = await ask.findFaces(reading, {
        galleryId,
        subjectId: 's1',
        faceId: 'FACE OF S1',
        limit: 1,
      })
      assert.equal(one.length, 1)
      const facts = await ask.projectFacts(reading, accountId)
      same(
        facts.map((row) => [row.keyCount, row.subjectCount, row.galleryId]),
        [[1, 2, galleryId]],
      )
      same(await ask.galleryFacts(reading, accountId), [
        { galleryId, projectName: 'default', subjectCount: 2, templateCount: 2 },
      ])
    })
    await store.write(ask.forgetRemovals)
    assert.equal((await changes()).length, 2)
    same(await ask.auditLines(store.db, 'halved', 0), [])
  },

  'templates of several models and crops hang on their face': async (world: World) => {
    const { store, project, accountId } = world
    await makeGallery(world)
    await enrol(world, 'both', { models: ['old', 'active'] })
    const { faceId } = await enrol(world, 'behind', { models: ['old'] })
    const { projectId } = project
    await store.write((tx) => ask.addCrop(tx, { faceId, projectId, sealed }))
    await store.read(async (reading) => {
      const templates = await ask.templatesOf(reading, 'both')
      same(
        templates.map((row) => [row.modelId, row.galleryId, row.keyId]),
        [
          ['active', projectId, 'wrapping'],
          ['old', projectId, 'wrapping'],
        ],
      )
      assert.equal((await ask.templatesOfFaces(reading, [faceId, 'none'])).length, 1)
      same(await ask.templatesOfFaces(reading, []), [])
      same(Buffer.from((await ask.cropOf(reading, faceId))?.sealed ?? []), sealed)
      same(await ask.facesToRemake(reading, { modelId: 'active', afterFaceId: '', limit: 9 }), [
        faceId,
      ])
      assert.equal((await ask.remakingOf(reading, faceId))?.templates.length, 1)
      same(await ask.progressOf(reading, 'active'), {
        comparableFaces: 1,
        remakeableFaces: 1,
        waitingFaces: 0,
        notComparableSubjects: 1,
      })
      assert.equal(await ask.countNotComparable(reading, 'active'), 1)
      same(
        [...(await ask.templateCountsByModel(reading))],
        [
          ['active', 1],
          ['old', 2],
        ],
      )
      const counts = await ask.countTemplates(reading, accountId)
      same(
        counts.toSorted((a, b) => (a.modelId < b.modelId ? -1 : 1)),
        [
          { modelId: 'active', faces: 1 },
          { modelId: 'old', faces: 2 },
        ],
      )
      same(await ask.retirementFacts(reading, { modelId: 'old', activeModelId: 'active' }), {
        templates: 2,
        dependentSubjects: 1,
        facesOfItAlone: 0,
      })
    })
    const retired = await ask.retireTemplates(
      store,
      { modelId: 'old', activeModelId: 'active' },
      () => {},
    )
    same(retired, { templates: 1, faces: 0 })
    assert.equal(await ask.removeCrops(store, projectId), 1)
    assert.equal(await ask.removeCrops(store, projectId), 0)
  },
}
