import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { openDatabaseProxy } from '../support/network/database-proxy.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import { imageParams, type GalleryClient } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { startGalleryNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false

/** Enrolled by one and found by the other, deleted by that and missed by the first, at once. */
async function verifyOnOtherNode(
  from: GalleryClient,
  to: GalleryClient,
  name: string,
): Promise<void> {
  const enrolled = await from.value('svc.enroll', imageParams(name))
  const { subjectId } = enrolled
  const [found, here] = await Promise.all([
    to.value('svc.identify', imageParams(name)),
    from.value('svc.identify', imageParams(name)),
  ])
  assert.equal(found.bestMatch?.subjectId, subjectId)
  assert.equal(here.bestMatch?.subjectId, subjectId)
  assert.equal((await to.value('svc.verify', { ...imageParams(name), subjectId })).matched, true)
  await to.value('svc.deleteSubject', { subjectId })
  assert.equal((await from.value('svc.identify', imageParams(name))).bestMatch, null)
  assert.equal(
    await from.code('svc.verify', { ...imageParams(name), subjectId }),
    'SUBJECT_NOT_FOUND',
  )
  assert.equal(await from.code('svc.deleteSubject', { subjectId }), 'SUBJECT_NOT_FOUND')
}

for (const search of ['memory', 'pgvector'])
  test(
    `what one node enrolls or deletes the other knows at once, and again after its line was cut (${search})`,
    {
      skip,
    },
    async () => {
      await using database = await createMigratedDatabase()
      await using line = await openDatabaseProxy(database.url)
      await using nodes = await startGalleryNodes({
        databaseUrl: database.url,
        environment: { SEARCH: search },
        nodeEnvironment: (node): Record<string, string> =>
          node === 1 ? { DATABASE_URL: line.url } : {},
      })
      const [a, b] = [nodes.a.client, nodes.b.client]
      for (let turn = 0; turn < 20; turn++) {
        await verifyOnOtherNode(a, b, `Ann ${turn}`)
        await verifyOnOtherNode(b, a, `Ben ${turn}`)
      }
      const kept = await a.value('svc.enroll', imageParams('Kept by A'))
      line.disconnect()
      const cut = await a.call('svc.identify', imageParams('Kept by A'))
      assert.equal(cut.status, 503, 'no database, no call')
      // Meanwhile the other goes on: one comes, one goes.
      const came = await b.value('svc.enroll', imageParams('Came meanwhile'))
      await b.value('svc.deleteSubject', { subjectId: kept.subjectId })
      await sleep(Number(process.env['OUTAGE_MS'] ?? 3000))
      assert.equal((await a.call('svc.identify', imageParams('Kept by A'))).status, 503)
      line.reconnect()
      const backMs = performance.now()
      let first = await a.call('svc.identify', imageParams('Came meanwhile'))
      while (first.status === 503 && performance.now() < backMs + 5000) {
        await sleep(50)
        first = await a.call('svc.identify', imageParams('Came meanwhile'))
      }
      // Its very first answer knows what happened while it was cut off.
      assert.equal(first.body.data?.results[0].value.bestMatch?.subjectId, came.subjectId)
      assert.equal((await a.value('svc.identify', imageParams('Kept by A'))).bestMatch, null)
      for (let turn = 0; turn < 5; turn++) {
        await verifyOnOtherNode(a, b, `Cleo ${turn}`)
        await verifyOnOtherNode(b, a, `Dan ${turn}`)
      }
      await assertLedgerAudit(nodes.local)
    },
  )

for (const search of ['memory', 'pgvector'])
  test(
    `two nodes that enroll the same face at once make one subject, the other hears of a duplicate (${search})`,
    {
      skip,
    },
    async () => {
      await using nodes = await startGalleryNodes({ environment: { SEARCH: search } })
      const [a, b] = [nodes.a.client, nodes.b.client]
      for (let turn = 0; turn < 20; turn++) {
        const params = { ...imageParams(`Twin ${turn}`), duplicateCheck: 'reject' }
        const answers = await Promise.all([a, b].map((node) => node.call('svc.enroll', params)))
        assert.deepEqual(
          answers.map(({ status, body }) => String(body.errors?.[0]?.code ?? status)).toSorted(),
          ['200', 'DUPLICATE_SUBJECT'],
        )
      }
      await assertLedgerAudit(nodes.local)
    },
  )

test('two nodes that enroll one externalId at once make one subject', { skip }, async () => {
  await using nodes = await startGalleryNodes()
  const [a, b] = [nodes.a.client, nodes.b.client]
  for (let turn = 0; turn < 20; turn++) {
    const params = { externalId: `id ${turn}`, onExisting: 'append', duplicateCheck: 'off' }
    const answers = await Promise.all(
      [a, b].map((node, at) =>
        node.value('svc.enroll', {
          ...params,
          ...imageParams({ name: `Person ${turn}`, deviation: 0.2, take: at }),
        }),
      ),
    )
    const [one, other] = answers
    assert.equal(one.subjectId, other.subjectId)
    assert.deepEqual(answers.map(({ embeddingCount }) => String(embeddingCount)).toSorted(), [
      '1',
      '2',
    ])
  }
  await assertLedgerAudit(nodes.local)
})

test(
  'a server that starts anew takes nothing from what others have yet to learn',
  {
    skip,
  },
  async () => {
    await using nodes = await startGalleryNodes()
    const [a, b] = [nodes.a.client, nodes.b.client]
    const { subjectId } = await b.value('svc.enroll', imageParams('Gone by the start'))
    assert.equal((await a.value('svc.identify', imageParams('Gone by the start'))).gallerySize, 1)
    await b.value('svc.deleteSubject', { subjectId })
    const { client: c } = await nodes.start(3)
    for (const node of [a, b, c]) {
      const seen = await node.value('svc.identify', imageParams('Gone by the start'))
      assert.equal(seen.bestMatch, null)
      assert.equal(seen.gallerySize, 0)
    }
  },
)
