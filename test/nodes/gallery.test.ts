import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { openDatabaseProxy, type DatabaseProxy } from '../support/network/database-proxy.ts'
import { createMigratedDatabase } from '../support/database/engine.ts'
import type { Store } from '../../src/store/database.ts'
import type { GalleryProcess } from '../support/gallery/gallery-process.ts'
import { createTestClient } from '../support/facegate/test-client.ts'
import {
  createGalleryClient,
  imageParams,
  startGallery,
  type GalleryClient,
} from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import { startGalleryNodes, type GalleryNodes } from '../support/nodes/test-nodes.ts'
import { postgresSkipReason } from '../support/database/postgres-server.ts'

const skip = postgresSkipReason ?? false
const turns = 6

/** Enrolls on one node and finds on the other, deletes there and finds no match on the first. */
async function verifyOnOtherNode(
  from: GalleryClient,
  to: GalleryClient,
  name: string,
): Promise<void> {
  const enrolled = await from.value('svc.enroll', imageParams(name))
  const { subjectId } = enrolled
  const [onOther, onSame] = await Promise.all([
    to.value('svc.identify', imageParams(name)),
    from.value('svc.identify', imageParams(name)),
  ])
  assert.equal(onOther.bestMatch?.subjectId, subjectId)
  assert.equal(onSame.bestMatch?.subjectId, subjectId)
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
  describe(`Two nodes (${search})`, { skip }, () => {
    let opened: AsyncDisposableStack
    let proxy: DatabaseProxy
    let nodes: GalleryNodes
    let a: GalleryClient
    let b: GalleryClient

    before(async () => {
      opened = new AsyncDisposableStack()
      const database = opened.use(await createMigratedDatabase())
      proxy = opened.use(await openDatabaseProxy(database.url))
      nodes = opened.use(
        await startGalleryNodes({
          databaseUrl: database.url,
          environment: { SEARCH: search },
          nodeEnvironment: (node): Record<string, string> =>
            node === 1 ? { DATABASE_URL: proxy.url } : {},
        }),
      )
      ;[a, b] = [nodes.a.client, nodes.b.client]
    })
    after(() => opened?.disposeAsync())

    test('Both nodes move one face at once: it has one subject, which both nodes find', async () => {
      for (let turn = 0; turn < turns; turn++) {
        const owner = await a.value('svc.enroll', imageParams(`Mia ${turn}`))
        const picture = imageParams(`Moved ${turn}`)
        const { subjectId } = owner
        const face = await b.value('svc.enroll', { ...picture, subjectId, force: true })
        const targets = [
          await a.value('svc.enroll', imageParams(`Left ${turn}`)),
          await b.value('svc.enroll', imageParams(`Right ${turn}`)),
        ]
        const move = { addFaceIds: [face.faceId], force: true }
        await Promise.all(
          [a, b].map((node, index) =>
            node.value('svc.updateSubject', { ...move, subjectId: targets[index].subjectId }),
          ),
        )
        const found = await Promise.all([a, b].map((node) => node.value('svc.identify', picture)))
        const [first, second] = found.map(({ bestMatch }) => bestMatch)
        assert.deepEqual([first.subjectId, first.faceId], [second.subjectId, face.faceId])
        assert.ok(targets.some((target) => target.subjectId === first.subjectId))
        const { body } = await a.rest('GET', `/v1/subjects/${first.subjectId}`)
        assert.equal(body.embeddingCount, 2)
      }
    })

    test('The other node sees enrollments and deletions immediately, also after a lost connection', async () => {
      for (let turn = 0; turn < turns; turn++) {
        await verifyOnOtherNode(a, b, `Ann ${turn}`)
        await verifyOnOtherNode(b, a, `Ben ${turn}`)
      }
      const kept = await a.value('svc.enroll', imageParams('Kept by A'))
      proxy.disconnect()
      const disconnected = await a.call('svc.identify', imageParams('Kept by A'))
      assert.equal(disconnected.status, 503, 'without a database, calls fail')
      // Meanwhile the other node enrolls one subject and deletes another.
      const enrolled = await b.value('svc.enroll', imageParams('Enrolled meanwhile'))
      await b.value('svc.deleteSubject', { subjectId: kept.subjectId })
      await sleep(Number(process.env['OUTAGE_MS'] ?? 3000))
      assert.equal((await a.call('svc.identify', imageParams('Kept by A'))).status, 503)
      proxy.reconnect()
      const reconnectedMs = performance.now()
      let first = await a.call('svc.identify', imageParams('Enrolled meanwhile'))
      while (first.status === 503 && performance.now() < reconnectedMs + 60_000) {
        await sleep(50)
        first = await a.call('svc.identify', imageParams('Enrolled meanwhile'))
      }
      // The first response already includes the changes of the outage.
      assert.equal(first.body.data?.results[0].value.bestMatch?.subjectId, enrolled.subjectId)
      assert.equal((await a.value('svc.identify', imageParams('Kept by A'))).bestMatch, null)
      for (let turn = 0; turn < 2; turn++) {
        await verifyOnOtherNode(a, b, `Cleo ${turn}`)
        await verifyOnOtherNode(b, a, `Dan ${turn}`)
      }
      await assertLedgerAudit(nodes.local)
    })

    test('When they enroll the same face at once, one creates the subject and the other reports a duplicate', async () => {
      for (let turn = 0; turn < turns; turn++) {
        const params = { ...imageParams(`Person ${turn}`), duplicateCheck: 'reject' }
        const responses = await Promise.all([a, b].map((node) => node.call('svc.enroll', params)))
        assert.deepEqual(
          responses.map(({ status, body }) => String(body.errors?.[0]?.code ?? status)).toSorted(),
          ['200', 'DUPLICATE_SUBJECT'],
        )
      }
      await assertLedgerAudit(nodes.local)
    })

    test('When they enroll one externalId at once, they create one subject', async () => {
      for (let turn = 0; turn < turns; turn++) {
        const params = { externalId: `id ${turn}`, onExisting: 'append', duplicateCheck: 'off' }
        const results = await Promise.all(
          [a, b].map((node, index) =>
            node.value('svc.enroll', {
              ...params,
              ...imageParams({ name: `Appended ${turn}`, deviation: 0.2, take: index }),
            }),
          ),
        )
        const [first, second] = results
        assert.equal(first.subjectId, second.subjectId)
        assert.deepEqual(results.map(({ embeddingCount }) => String(embeddingCount)).toSorted(), [
          '1',
          '2',
        ])
      }
      await assertLedgerAudit(nodes.local)
    })

    if (search === 'memory')
      test('A starting server does not remove changes that other servers have not read yet', async () => {
        const { key } = await nodes.local.createProjectClient({ galleryMode: 'isolated' })
        const clientOf = (node: GalleryProcess): GalleryClient =>
          createGalleryClient(createTestClient(node.client.url, key))
        const [a, b] = [nodes.a, nodes.b].map(clientOf)
        assert.ok(a && b)
        const deleted = imageParams('Deleted before the start')
        const identify = (node: GalleryClient) => node.value('svc.identify', deleted)
        const { subjectId } = await b.value('svc.enroll', deleted)
        assert.equal((await identify(a)).gallerySize, 1)
        await b.value('svc.deleteSubject', { subjectId })
        const c = clientOf(await nodes.start(3))
        for (const node of [a, b, c]) {
          const result = await identify(node)
          assert.equal(result.bestMatch, null)
          assert.equal(result.gallerySize, 0)
        }
      })
  })

test(
  'An identification during the first enrollment or the last deletion is no model mismatch',
  { skip },
  async () => {
    await using database = await createMigratedDatabase()
    const environment = { DATABASE_URL: database.url, SEARCH: 'pgvector' }
    await using other = await startGallery({ environment })
    let subjectId: string | undefined
    /** Changes the gallery on the other server: it is empty after every second change. */
    const changeGallery = async (): Promise<void> => {
      if (subjectId === undefined)
        ({ subjectId } = await other.value('svc.enroll', imageParams('Other')))
      else await other.value('svc.deleteSubject', { subjectId }).then(() => (subjectId = undefined))
    }
    let isChanging = false
    let reads: Promise<unknown> = Promise.resolve()
    // Each read of the first server has another state of the gallery than the read before it.
    const wrapStore = (store: Store): Store => ({
      ...store,
      read: (job) => {
        const result = reads.then(() => store.read(job))
        reads = result.then(() => (isChanging ? changeGallery() : undefined))
        return result
      },
    })
    const options = { environment, key: other.key, wrapStore, dataDir: other.dataDir }
    await using gallery = await startGallery(options)
    for (let turn = 0; turn < 4; turn++) {
      isChanging = true
      const result = await gallery.value('svc.identify', imageParams('Not enrolled'))
      isChanging = false
      await reads
      assert.equal(result.bestMatch, null)
      assert.equal(result.notComparable, undefined)
      if (turn === 1) await changeGallery()
    }
  },
)
