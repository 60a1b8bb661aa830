import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  nowUtc,
  type StoreFixture,
} from '../store-fixture.ts'

export const renamedGroupsContract = {
  'the subjects of faces are found, and a renamed group marks the faces of its subjects': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    const [first, second] = [
      await enrollSubject(fixture, 's-1'),
      await enrollSubject(fixture, 's-2'),
    ]
    const find = (ids: readonly string[], gallery = galleryId) =>
      store.read((tx) => queries.findFaceOwners(tx, gallery, ids))
    assertSameValues(await find([second.faceId, 'unknown']), [
      { faceId: second.faceId, subjectId: 's-2' },
    ])
    assertSameValues(await find([first.faceId], 'other'), [])
    await store.write(async (tx) => {
      await queries.addGroups(tx, { subjectId: 's-1', galleryId }, ['Staff'])
      const change = { galleryId, name: 'Staff', newName: 'Crew', sequence: 9, nowUtc }
      await queries.renameGroupOfSubjects(tx, change)
    })
    const groups = await queries.listGroups(store, galleryId)
    assertSameValues(groups, [{ name: 'Crew', subjectCount: 1 }])
    await store.read(async (tx) => {
      const from = { sequence: second.sequence, subjectId: queries.afterAllSubjectIds }
      const { subjects } = await queries.findSubjectChanges(tx, galleryId, from, 9)
      assertSameValues(
        subjects.map(({ subjectId, sequence }) => [subjectId, sequence]),
        [['s-1', 9]],
      )
    })
  },

  'groups are listed in steps of any number of subjects': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    for (const subjectId of ['s-1', 's-2']) await enrollSubject(fixture, subjectId)
    await store.write(async (tx) => {
      await queries.addGroups(tx, { subjectId: 's-1', galleryId }, ['Staff', 'B_2'])
      await queries.addGroups(tx, { subjectId: 's-2', galleryId }, ['Staff'])
    })
    const all = ['B_2 1', 'Staff 2']
    for (const stepMax of [1, 2, 3, undefined]) {
      const list = async (filter: object) =>
        (
          await queries.listGroups(store, galleryId, { ...filter, ...(stepMax && { stepMax }) })
        ).map(({ name, subjectCount }) => `${name} ${subjectCount}`)
      assertSameValues(await list({}), all)
      assertSameValues(await list({ isDescending: true }), all.toReversed())
      for (const filter of [{ text: 'STA' }, { after: 'B_2', limit: 1 }, { name: 'Staff' }])
        assertSameValues(await list(filter), ['Staff 2'])
      assertSameValues(await list({ name: 'Staff', isDescending: true }), ['Staff 2'])
      for (const filter of [{ text: '_' }, { isDescending: true, after: 'Staff' }, { limit: 1 }])
        assertSameValues(await list(filter), ['B_2 1'])
      assertSameValues(await list({ name: 'staff' }), [])
    }
  },
}
