import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { openDatabaseProxy } from '../database-proxy.ts'
import { migratedDatabase } from '../engine.ts'
import { images, type GalleryClient } from '../gallery.ts'
import { assertBooks } from '../gate.ts'
import { startGalleries } from '../nodes.ts'
import { postgresMissing } from '../postgres.ts'

const skip = postgresMissing ?? false

/** Enrolled by one and found by the other, deleted by that and missed by the first, at once. */
async function passAlong(from: GalleryClient, to: GalleryClient, name: string): Promise<void> {
  const enrolled = await from.value('svc.enroll', images(name))
  const { subjectId } = enrolled
  const [found, here] = await Promise.all([
    to.value('svc.identify', images(name)),
    from.value('svc.identify', images(name)),
  ])
  assert.equal(found.bestMatch?.subjectId, subjectId)
  assert.equal(here.bestMatch?.subjectId, subjectId)
  assert.equal((await to.value('svc.verify', { ...images(name), subjectId })).matched, true)
  await to.value('svc.deleteSubject', { subjectId })
  assert.equal((await from.value('svc.identify', images(name))).bestMatch, null)
  assert.equal(await from.code('svc.verify', { ...images(name), subjectId }), 'SUBJECT_NOT_FOUND')
  assert.equal(await from.code('svc.deleteSubject', { subjectId }), 'SUBJECT_NOT_FOUND')
}

for (const search of ['memory', 'pgvector'])
  test(
    `what one node enrolls or deletes the other knows at once, and again after its line was cut (${search})`,
    {
      skip,
    },
    async () => {
      await using database = await migratedDatabase()
      await using line = await openDatabaseProxy(database.url)
      await using nodes = await startGalleries({
        databaseUrl: database.url,
        environment: { SEARCH: search },
        of: (node): Record<string, string> => (node === 1 ? { DATABASE_URL: line.url } : {}),
      })
      const [a, b] = [nodes.a.client, nodes.b.client]
      for (let turn = 0; turn < 20; turn++) {
        await passAlong(a, b, `Ann ${turn}`)
        await passAlong(b, a, `Ben ${turn}`)
      }
      const kept = await a.value('svc.enroll', images('Kept by A'))
      line.sever()
      const cut = await a.call('svc.identify', images('Kept by A'))
      assert.equal(cut.status, 503, 'no database, no call')
      // Meanwhile the other goes on: one comes, one goes.
      const came = await b.value('svc.enroll', images('Came meanwhile'))
      await b.value('svc.deleteSubject', { subjectId: kept.subjectId })
      await sleep(Number(process.env['OUTAGE_MS'] ?? 3000))
      assert.equal((await a.call('svc.identify', images('Kept by A'))).status, 503)
      line.mend()
      const backMs = performance.now()
      let first = await a.call('svc.identify', images('Came meanwhile'))
      while (first.status === 503 && performance.now() < backMs + 5000) {
        await sleep(50)
        first = await a.call('svc.identify', images('Came meanwhile'))
      }
      // Its very first answer knows what happened while it was cut off.
      assert.equal(first.body.data?.results[0].value.bestMatch?.subjectId, came.subjectId)
      assert.equal((await a.value('svc.identify', images('Kept by A'))).bestMatch, null)
      for (let turn = 0; turn < 5; turn++) {
        await passAlong(a, b, `Cleo ${turn}`)
        await passAlong(b, a, `Dan ${turn}`)
      }
      await assertBooks(nodes.inside)
    },
  )

for (const search of ['memory', 'pgvector'])
  test(
    `two nodes that enroll the same face at once make one subject, the other hears of a duplicate (${search})`,
    {
      skip,
    },
    async () => {
      await using nodes = await startGalleries({ environment: { SEARCH: search } })
      const [a, b] = [nodes.a.client, nodes.b.client]
      for (let turn = 0; turn < 20; turn++) {
        const params = { ...images(`Twin ${turn}`), duplicateCheck: 'reject' }
        const answers = await Promise.all([a, b].map((node) => node.call('svc.enroll', params)))
        assert.deepEqual(
          answers.map(({ status, body }) => String(body.errors?.[0]?.code ?? status)).toSorted(),
          ['200', 'DUPLICATE_SUBJECT'],
        )
      }
      await assertBooks(nodes.inside)
    },
  )

test('two nodes that enroll one externalId at once make one subject', { skip }, async () => {
  await using nodes = await startGalleries()
  const [a, b] = [nodes.a.client, nodes.b.client]
  for (let turn = 0; turn < 20; turn++) {
    const params = { externalId: `id ${turn}`, onExisting: 'append', duplicateCheck: 'off' }
    const answers = await Promise.all(
      [a, b].map((node, at) =>
        node.value('svc.enroll', {
          ...params,
          ...images({ name: `Person ${turn}`, wobble: 0.2, take: at }),
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
  await assertBooks(nodes.inside)
})

test(
  'a server that starts anew takes nothing from what others have yet to learn',
  {
    skip,
  },
  async () => {
    await using nodes = await startGalleries()
    const [a, b] = [nodes.a.client, nodes.b.client]
    const { subjectId } = await b.value('svc.enroll', images('Gone by the start'))
    assert.equal((await a.value('svc.identify', images('Gone by the start'))).gallerySize, 1)
    await b.value('svc.deleteSubject', { subjectId })
    const { client: c } = await nodes.start(3)
    for (const node of [a, b, c]) {
      const seen = await node.value('svc.identify', images('Gone by the start'))
      assert.equal(seen.bestMatch, null)
      assert.equal(seen.gallerySize, 0)
    }
  },
)
