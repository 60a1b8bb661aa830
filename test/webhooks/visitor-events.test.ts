import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { startGallery } from '../support/gallery/test-gallery.ts'
import { createVisitorProject, setUnknownPeople, takeOf } from '../support/gallery/visitors.ts'
import { deliveriesOf } from '../support/webhooks/webhook-settings.ts'

test('A face without a match sends an event, and a returning visitor another one', async () => {
  let nowMs = Date.parse('2030-03-01T08:00:00.000Z')
  await using gallery = await startGallery({ clock: () => nowMs })
  const client = await createVisitorProject(gallery, 'off')
  const { store } = gallery.database
  const { projectId } = client.project
  const addWebhook = async (matchFilter: { minSimilarity?: number; groups?: string[] }) => {
    const events = ['identify.unmatched', 'visitor.returned'] as const
    const webhook = { projectId, url: 'https://example.com/door', events, matchFilter }
    const created = await store.write((tx) => gallery.webhooks.create(tx, webhook, nowMs))
    return created?.webhookId ?? ''
  }
  const all = await addWebhook({ groups: ['staff'] })
  const similar = await addWebhook({ minSimilarity: 0.5 })
  const eventsOf = async (webhookId: string) =>
    (await deliveriesOf(store, webhookId)).map(({ type, data }) => ({
      type,
      ...JSON.parse(data),
    }))
  const identify = async (picture: object, requestId: string = randomUUID()) => {
    const response = await client.post({ action: 'svc.identify', requestId, params: picture })
    assert.equal(response.body.ok, true, JSON.stringify(response.body))
    const [face] = response.body.data.results[0].value.faces
    return {
      requestId,
      visitorId: face.visitorId,
      threshold: response.body.data.results[0].value.threshold,
    }
  }
  const off = await identify(takeOf('Zoe', 0))
  const [unmatched, ...none] = await eventsOf(all)
  assert.deepEqual(none, [])
  const base = { resultIndex: 0, faceIndex: 0 }
  assert.deepEqual(unmatched, {
    type: 'identify.unmatched',
    requestId: off.requestId,
    keyId: unmatched.keyId,
    faces: [{ ...base, similarity: null, threshold: off.threshold }],
  })

  await setUnknownPeople(gallery, client, '30')
  const { visitorId } = await identify(takeOf('Zoe', 0))
  const ids = (await eventsOf(all)).map(({ faces }) => faces[0].visitorId)
  assert.deepEqual(new Set(ids), new Set([undefined, visitorId]))
  const previousSeenAtUtc = new Date(nowMs).toISOString()
  nowMs += 3_600_000
  const again = await identify(takeOf('Zoe', 1))
  await identify(takeOf('Zoe', 1), again.requestId)
  const sent = await eventsOf(all)
  assert.equal(sent.length, 4, 'a replay sends no event')
  const returned = sent.find(({ type }) => type === 'visitor.returned')
  const { similarity } = returned.faces[0]
  assert.deepEqual(returned.faces, [
    { ...base, visitorId, visitCount: 2, previousSeenAtUtc, similarity },
  ])
  assert.ok(similarity >= 0.8)
  const filtered = await eventsOf(similar)
  assert.deepEqual(
    filtered.map(({ type }) => type),
    ['visitor.returned'],
    'the similarity to the visitor is sufficient, that to subjects is not',
  )
  await client.rest('POST', `/v1/visitors/${visitorId}/ignore`, { ignored: true })
  await identify(takeOf('Zoe', 2))
  await client.value('svc.enroll', takeOf('Ann', 0))
  await identify(takeOf('Ann', 1))
  assert.equal((await eventsOf(all)).length, 4, 'no event of an ignored visitor or of a match')
})
