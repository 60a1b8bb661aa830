import assert from 'node:assert/strict'
import { queries } from './tracked-queries.ts'
import {
  assertSameValues,
  createProjectGallery,
  enrollSubject,
  type StoreFixture,
} from './store-fixture.ts'

const ciphertext = Buffer.from('ciphertext')

export const removedDataContract = {
  'subjects with removed data are marked until their key is replaced': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    await enrollSubject(fixture, 'kept')
    const { faceId } = await enrollSubject(fixture, 'removed from')
    const { projectId } = project
    const marked = () =>
      store.read(async (tx) => {
        const galleryIds = await queries.listGalleriesNeedingKeys(tx)
        const subjects = await queries.findSubjectsNeedingKey(tx, galleryId, 9)
        return [...galleryIds, ...subjects.map(({ subjectId }) => subjectId)]
      })
    assertSameValues(await marked(), [], 'a new subject has a new key')
    await store.write(async (tx) => {
      await queries.addCrop(tx, { faceId, projectId, ciphertext })
      await queries.markForNewKey(tx, [])
      await queries.markForNewKey(tx, [faceId, 'none'])
    })
    assertSameValues(await marked(), [galleryId, 'removed from'])
    const replacement = Buffer.from('another ciphertext')
    await store.write(async (tx) => {
      const key = { keyId: 'wrapping', wrappedKey: replacement }
      await queries.replaceSubjectKey(tx, 'removed from', key)
      await queries.replaceCropCiphertext(tx, { faceId, ciphertext: replacement })
      await queries.replaceTemplateCiphertext(tx, {
        galleryId,
        faceId,
        modelId: 'active',
        ciphertext: replacement,
      })
    })
    assertSameValues(await marked(), [])
    await store.read(async (tx) => {
      const [template] = await queries.findSubjectTemplates(tx, ['removed from'])
      const [crop, ...others] = await queries.findSubjectCrops(tx, 'removed from')
      assert.equal(others.length, 0)
      for (const bytes of [template?.ciphertext, template?.wrappedKey, crop?.ciphertext])
        assertSameValues(Buffer.from(bytes ?? []), replacement)
      assert.equal((await queries.findSubjectCrops(tx, 'kept')).length, 0)
    })
  },
  'the faces of a subject are moved to another one, and the change is found': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    const kept = await enrollSubject(fixture, 'target')
    const moved = await enrollSubject(fixture, 'source')
    const sequence = await store.write(async (tx) => {
      const change = await queries.recordGalleryChange(tx, { galleryId })
      await queries.moveFaces(tx, {
        galleryId,
        fromSubjectId: 'source',
        toSubjectId: 'target',
        sequence: change,
      })
      await queries.removeSubject(tx, 'source')
      return change
    })
    await store.read(async (tx) => {
      const faces = await queries.findSubjectFaces(tx, 'target')
      assertSameValues(
        faces.map(({ faceId }) => faceId).toSorted(),
        [kept.faceId, moved.faceId].toSorted(),
      )
      assertSameValues(
        faces.map((face) => face.sequence),
        [sequence, sequence],
      )
      const after = { sequence: sequence - 1, subjectId: queries.afterAllSubjectIds }
      const { subjects } = await queries.findSubjectChanges(tx, galleryId, after, 9)
      assertSameValues(
        subjects.map(({ subjectId, templates }) => [subjectId, templates.length]),
        [
          ['source', 0],
          ['target', 2],
        ],
      )
    })
  },
  'one face of several is moved, and a renamed group marks the faces of its subjects': async (
    fixture: StoreFixture,
  ) => {
    const { store, project } = fixture
    const galleryId = project.projectId
    await createProjectGallery(fixture)
    const [source, target] = ['source', 'target']
    const first = await enrollSubject(fixture, source)
    const second = await enrollSubject(fixture, 'other')
    await enrollSubject(fixture, target)
    await store.write(async (tx) => {
      const sequence = await queries.recordGalleryChange(tx, { galleryId })
      const toSource = { galleryId, fromSubjectId: 'other', toSubjectId: source, sequence }
      await queries.moveFaces(tx, toSource)
      const faceIds = [first.faceId]
      const toTarget = { ...toSource, fromSubjectId: source, toSubjectId: target, faceIds }
      await queries.moveFaces(tx, toTarget)
      await queries.addGroups(tx, { galleryId, subjectId: target }, ['day'])
      const renaming = { galleryId, name: 'day', newName: 'night' }
      const nowUtc = '2030-01-01T00:00:00.000Z'
      const change = await queries.recordGalleryChange(tx, { galleryId })
      await queries.renameGroupOfSubjects(tx, { ...renaming, sequence: change, nowUtc })
    })
    await store.read(async (tx) => {
      const ids = [first.faceId, second.faceId, 'unknown']
      const owners = await queries.findFaceOwners(tx, galleryId, ids)
      const subjects = new Map(owners.map(({ faceId, subjectId }) => [faceId, subjectId]))
      const { faceId: firstId } = first
      assertSameValues([subjects.get(firstId), subjects.get(second.faceId)], [target, source])
      assertSameValues(subjects.size, 2)
      assertSameValues(await queries.findFaceOwners(tx, 'another gallery', ids), [])
      const groups = await queries.findSubjectGroups(tx, [target])
      assertSameValues(groups.get(target), ['night'])
      const faces = await queries.findSubjectFaces(tx, target)
      const sequence = (await queries.findGallery(tx, galleryId))?.sequence
      assertSameValues(
        faces.map((face) => face.sequence),
        [sequence, sequence],
      )
    })
  },
}
