import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findGallery } from '../../src/store/gallery/galleries.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

/** Adds as many removals to the gallery as the deletion of a large group makes. */
async function addChanges({ database: { store } }: TestGallery, count: number): Promise<void> {
  const [project] = await store.db.selectFrom('projects').select('projectId').execute()
  const galleryId = project?.projectId ?? ''
  const first = (await store.read((tx) => findGallery(tx, galleryId)))?.sequence ?? 0
  const rows = Array.from({ length: count }, (_, index) => ({
    galleryId,
    sequence: first + index + 1,
    subjectId: `removed ${index}`,
  }))
  await store.runExclusive(async ({ db }) => {
    for (let from = 0; from < count; from += 1000)
      await db
        .insertInto('removals')
        .values(rows.slice(from, from + 1000))
        .execute()
    await db
      .updateTable('galleries')
      .set({ sequence: first + count })
      .where('galleryId', '=', galleryId)
      .execute()
  })
}

for (const count of [499, 500, 1001])
  test(`Of two concurrent enrollments of a face one is rejected, with ${count} changes between them`, async () => {
    let atSettlement: (() => Promise<void>) | undefined
    await using gallery = await startGallery({
      beforeStep: async (step) => {
        const run = step === 'settle' ? atSettlement : undefined
        if (run) atSettlement = undefined
        await run?.()
      },
    })
    await gallery.value('svc.enroll', imageParams('First'))
    const params = { ...imageParams('Twice'), duplicateCheck: 'reject' }
    let subjectId = ''
    // The search of the second enrollment ends before the changes and the first enrollment.
    atSettlement = async () => {
      await addChanges(gallery, count)
      ;({ subjectId } = await gallery.value('svc.enroll', params))
    }
    const { body } = await gallery.call('svc.enroll', params)
    assert.equal(body.ok, false, JSON.stringify(body))
    assert.equal(body.errors[0].code, 'DUPLICATE_SUBJECT')
    assert.match(body.errors[0].message, new RegExp(subjectId, 'u'))
  })
