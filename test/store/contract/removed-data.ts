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
      const [template] = await queries.findSubjectTemplates(tx, 'removed from')
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
      const after = { sequence: sequence - 1, faceId: '\u{10FFFF}' }
      const changes = await queries.findFaceChanges(tx, galleryId, after, 9)
      assertSameValues(
        changes.map(({ faceId, face }) => [faceId, face?.subjectId]),
        [[moved.faceId, 'target']],
      )
    })
  },
}
