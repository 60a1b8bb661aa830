import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventFacesBytesMax, type MatchFilter } from '../../src/store/webhooks/events.ts'
import { imageParams, startGallery } from '../support/gallery/test-gallery.ts'
import { deliveriesOf } from '../support/webhooks/webhook-settings.ts'

test('A webhook with a filter receives only the matches of its groups and similarities', async () => {
  await using gallery = await startGallery()
  const { project, ...client } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { store } = gallery.database
  const addFiltered = async (matchFilter: MatchFilter) => {
    const webhook = { projectId: project.projectId, url: 'https://example.com/watch' }
    const created = await store.write((tx) =>
      gallery.webhooks.create(
        tx,
        { ...webhook, events: ['identify.matched'], matchFilter },
        Date.now(),
      ),
    )
    return created?.webhookId ?? ''
  }
  const all = await addFiltered({})
  const watched = await addFiltered({ groups: ['banned', 'watched'] })
  const certain = await addFiltered({ minSimilarity: 1 })
  const both = await addFiltered({ groups: ['watched'], minSimilarity: 1 })
  const other = await addFiltered({ groups: ['others'] })
  const enroll = (name: string, groups: readonly string[]) =>
    client.value('svc.enroll', { ...imageParams(name), groups })
  const ids = [await enroll('Ann', ['watched']), await enroll('Ben', ['staff'])].map(
    ({ subjectId }) => subjectId,
  )
  const similar = { name: 'Ann', deviation: 0.5 }
  await client.value('svc.identify', { ...imageParams(similar, 'Ben'), maxFaces: 2 })
  const sentTo = async (webhookId: string): Promise<readonly (readonly string[])[]> =>
    (await deliveriesOf(store, webhookId)).map(({ data }) =>
      JSON.parse(data).matches.map(({ subjectId }: { subjectId: string }) => subjectId),
    )
  assert.deepEqual(
    (await sentTo(all)).map((one) => new Set(one)),
    [new Set(ids)],
  )
  assert.deepEqual(await sentTo(watched), [[ids[0]]])
  assert.deepEqual(await sentTo(certain), [[ids[1]]])
  assert.deepEqual([await sentTo(both), await sentTo(other)], [[], []])
  await client.value('svc.identify', imageParams('Ann'))
  assert.deepEqual(await sentTo(both), [[ids[0]]])

  const renamed = await client.rest('POST', '/v1/groups/watched/rename', { name: 'reported' })
  assert.equal(renamed.status, 200)
  await client.value('svc.identify', imageParams('Ann'))
  assert.equal((await sentTo(both)).length, 2, 'the filter has the new name')
  assert.equal((await sentTo(watched)).length, 3)
  assert.equal((await sentTo(other)).length, 0)
})

test('An event contains at most 64 KiB of faces, and the number of the others', async () => {
  await using gallery = await startGallery()
  const { project, ...client } = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { projectId } = project
  const { store } = gallery.database
  const webhook = {
    projectId,
    url: 'https://example.com/all',
    events: ['identify.matched'],
  } as const
  const created = await store.write((tx) => gallery.webhooks.create(tx, webhook, Date.now()))
  const groups = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(64, 'g'))
  await client.value('svc.enroll', { ...imageParams('Ann'), groups })
  const { images } = imageParams(...Array.from({ length: 20 }, () => 'Ann')) as {
    readonly images: readonly object[]
  }
  const faces = 60
  await client.value('svc.identify', { images: [...images, ...images, ...images], maxFaces: 20 })
  const [delivery] = await deliveriesOf(store, created?.webhookId ?? '')
  const { matches, omitted } = JSON.parse(delivery?.data ?? '')
  assert.equal(matches.length + omitted, faces)
  const bytes = matches.reduce(
    (sum: number, face: object) => sum + Buffer.byteLength(JSON.stringify(face)),
    0,
  )
  assert.ok(bytes <= eventFacesBytesMax, `${bytes}`)
  assert.ok(bytes + Buffer.byteLength(JSON.stringify(matches[0])) > eventFacesBytesMax, `${bytes}`)
})
