import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sendCompreFace } from '../support/compreface/send.ts'
import { recordChanges } from '../support/database/record-changes.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'

test('A list of faces is deleted in one transaction for each face', async () => {
  const changes: number[] = []
  await using gallery = await startGallery({
    environment: { COMPREFACE_API: 'on' },
    wrapStore: (store) => recordChanges(store, 'true', changes),
  })
  const names = ['Ann', 'Bea', 'Cleo']
  const enrolled = await Promise.all(
    names.map((name) => gallery.value('svc.enroll', { ...imageParams(name), externalId: name })),
  )
  const faceIds = [...enrolled.map(({ faceId }) => faceId), randomUUID()]
  const path = '/api/v1/recognition/faces/delete'
  const { status, body } = await sendCompreFace(gallery, 'POST', path, faceIds)
  assert.equal(status, 200)
  assert.deepEqual(
    body.map(({ subject }: { subject: string }) => subject),
    names,
  )
  assert.deepEqual(changes, [1, 1, 1])
  assert.equal((await gallery.value('svc.identify', imageParams('Ann'))).matched, false)
})
