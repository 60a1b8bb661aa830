import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createClient } from '../../client/src/node.ts'
import { fakeImage, type FakePerson } from '../support/gallery/fake-vision.ts'
import { startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

async function createProjectClient() {
  const { key } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  return createClient({ baseUrl: gallery.url, apiKey: key })
}

/** Creates an image for the fake vision. */
const imageOf = (person: FakePerson) => ({
  bytes: fakeImage(person).bytes,
  contentType: 'image/jpeg' as const,
})

test('A stored face is searched by each of its ids', async () => {
  const client = await createProjectClient()
  const picture = (take: number) => imageOf({ name: 'Mia', deviation: 0.4, take })
  const params = { duplicateCheck: 'off' } as const
  const stored = await client.enroll(picture(1), { ...params, externalId: 'case-1' })
  await client.enroll(picture(2), { ...params, externalId: 'case-2' })
  const { subjectId, faceId } = stored
  for (const reference of [{ subjectId }, { externalId: 'case-1' }, { faceId }]) {
    const { candidates, probe } = await client.identify(reference, { maxCandidates: 3 })
    assert.deepEqual(
      candidates.map(({ externalId }) => externalId),
      ['case-2'],
    )
    assert.deepEqual(probe, { subjectId, faceIds: [faceId] })
  }
  const unknown = await client.try.identify({ faceId: randomUUID() })
  assert.equal(!unknown.ok && unknown.error.code, 'SUBJECT_NOT_FOUND')
  const { image } = await client.identify(picture(3))
  assert.equal(image.width, 1000)
})

test('Lists take an order, an attribute and a total', async () => {
  const client = await createProjectClient()
  for (const [externalId, team] of [
    ['a', 'north'],
    ['b', 'south'],
    ['c', 'north'],
  ] as const) {
    const attributes = { team }
    await client.enroll(imageOf({ name: externalId }), { externalId, attributes })
  }
  const ids: (string | null)[] = []
  const query = { sort: '-created', attribute: 'team=north', limit: 1 } as const
  for await (const { externalId } of client.subjects.list(query)) ids.push(externalId)
  assert.deepEqual(ids, ['c', 'a'])
  assert.equal((await client.subjects.page({ total: 'true' })).total, 3)
  assert.equal((await client.deletions.page({ sort: 'deleted', total: 'true' })).total, 0)
})
