import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { imageItem, samplePhotograph, sharedFacegate } from '../support/facegate/test-facegate.ts'
import { createGalleryClient } from '../support/gallery/test-gallery.ts'
import { closeSharedServices } from '../support/shared-service.ts'

after(closeSharedServices)

test('A photograph is enrolled, identified and verified', async () => {
  const client = createGalleryClient(await sharedFacegate())
  const photograph = { images: [imageItem(await samplePhotograph(3))], facePolicy: 'largest' }
  const enrolled = await client.value('svc.enroll', { ...photograph, externalId: 'one' })
  const identified = await client.value('svc.identify', photograph)
  assert.equal(identified.bestMatch.subjectId, enrolled.subjectId)
  assert.ok(identified.bestMatch.similarity > 0.99)
  const verified = await client.value('svc.verify', { ...photograph, externalId: 'one' })
  assert.ok(verified.similarity > 0.99)
})
