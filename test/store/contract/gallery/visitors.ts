import { queries } from '../tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  nowUtc,
  type StoreFixture,
} from '../store-fixture.ts'

export const visitorsContract = {
  'visitors are listed in both orders, counted, and found by their project': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const { projectId } = project
    assertSameValues(queries.visitorsGalleryId(projectId), `${projectId}:visitors`)
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 'subject')
    for (const id of ['v-1', 'v-2', 'v-3']) await enrollSubject(fixture, id)
    const { accountId } = project
    const galleryId = queries.visitorsGalleryId(projectId)
    await store.write((tx) => queries.createGallery(tx, { galleryId, accountId }))
    const galleries = await store.read((tx) => queries.findGallerySummaries(tx, accountId))
    assertSameValues(
      galleries.map((gallery) => gallery.galleryId),
      [projectId],
    )
    const laterUtc = '2027-03-05T00:00:00.000Z'
    await store.write(async (tx) => {
      for (const id of ['v-1', 'v-2', 'v-3'])
        await queries.updateSubjectRow(tx, id, { visitCount: 1, lastSeenAtUtc: nowUtc })
      await queries.updateSubjectRow(tx, 'v-3', { isIgnored: 1 })
      await queries.addVisit(tx, 'v-1', laterUtc)
    })
    const list = (filter: object) =>
      store.read(async (tx) => {
        const base = { galleryId: projectId, limit: 9 }
        const visitors = await queries.findVisitors(tx, { ...base, ...filter })
        return visitors.map(({ subjectId, visitCount }) => [subjectId, visitCount])
      })
    assertSameValues(await list({}), [
      ['v-1', 2],
      ['v-3', 1],
      ['v-2', 1],
    ])
    assertSameValues(await list({ sortBy: 'visitCount', isIgnored: false, limit: 1 }), [['v-1', 2]])
    const after = { value: 2, subjectId: 'v-1' }
    assertSameValues(await list({ sortBy: 'visitCount', isIgnored: false, after }), [['v-2', 1]])
    assertSameValues(await list({ isIgnored: true }), [['v-3', 1]])
    const before = { value: laterUtc, subjectId: 'v-1' }
    assertSameValues(await list({ isDescending: false, limit: 2 }), [
      ['v-2', 1],
      ['v-3', 1],
    ])
    assertSameValues(await list({ isDescending: false, after: before }), [])
    for (const [isIgnored, total] of [
      [undefined, 3],
      [true, 1],
      [false, 2],
    ] as const)
      assertSameValues(
        await store.read((tx) => queries.countVisitors(tx, { galleryId: projectId, isIgnored })),
        { total, isCapped: false },
      )
    await store.read(async (tx) => {
      const ofProject = { projectId, limit: 9 }
      assertSameValues((await queries.findProjectVisitors(tx, ofProject)).length, 3)
      const unseen = { projectId, beforeUtc: laterUtc }
      assertSameValues(await queries.countProjectVisitors(tx, unseen), {
        total: 2,
        isCapped: false,
      })
      const { beforeUtc } = unseen
      const people = { projectId, beforeUtc, limit: 9 }
      const ids = (await queries.findUnseenSubjects(tx, people)).map(({ subjectId }) => subjectId)
      assertSameValues(
        ids.filter((id) => id.startsWith('v-')),
        [],
      )
    })
  },
}
