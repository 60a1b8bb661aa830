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
    await store.read(async (tx) => {
      assertSameValues(await queries.listGroups(tx, galleryId), [{ name: 'Crew', subjectCount: 1 }])
      const from = { sequence: second.sequence, subjectId: queries.afterAllSubjectIds }
      const { subjects } = await queries.findSubjectChanges(tx, galleryId, from, 9)
      assertSameValues(
        subjects.map(({ subjectId, sequence }) => [subjectId, sequence]),
        [['s-1', 9]],
      )
    })
  },
}
