import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { imageParams, type GalleryClient } from '../support/gallery/test-gallery.ts'
import { assertLedgerAudit, callLogRows } from '../support/gate/test-gate.ts'
import { startGalleryNodes } from '../support/nodes/test-nodes.ts'
import { clusterSkipReason, startPostgresCluster } from '../support/database/postgres-server.ts'

const skip = clusterSkipReason ?? false
const rounds = Number(process.env['DATABASE_KILLS'] ?? 5)
const clients = 40

type PendingEnrollment = {
  readonly name: string
  readonly requestId: string
  /** Of the subject; once it is known it must never change. */
  subjectId?: string
}

/**
 * One enrolment, asked for again until it is answered, by either node in turn.
 *
 * @returns when the answer came.
 */
async function enroll(asked: PendingEnrollment, nodes: readonly GalleryClient[], first: number) {
  for (let turn = first; ; turn++) {
    const node = nodes[turn % nodes.length]
    const params = {
      ...imageParams(asked.name),
      duplicateCheck: 'off',
      externalId: asked.requestId,
    }
    const answer = await node?.call('svc.enroll', params, { requestId: asked.requestId })
    if (answer?.status === 200) {
      assert.deepEqual(answer.body.errors, [])
      const { subjectId, embeddingCount } = answer.body.data.results[0].value
      assert.equal(asked.subjectId ?? subjectId, subjectId, 'a retry finds the first answer')
      assert.equal(embeddingCount, 1)
      asked.subjectId = subjectId
      return performance.now()
    }
    assert.equal(answer?.status, 503, JSON.stringify(answer?.body))
    await sleep(20 + Math.random() * 30)
  }
}

test(
  `what was acknowledged outlives kill -9 of the database under load, and nothing goes unmetered (${rounds} rounds)`,
  {
    skip,
  },
  async (t) => {
    await using cluster = await startPostgresCluster()
    await using database = await cluster.createDatabase()
    await using nodes = await startGalleryNodes({
      databaseUrl: database.url,
      // What a call had set aside when the database died is soon free again.
      environment: { CALL_TIMEOUT_MS: '2000', IN_FLIGHT_WAIT_MS_MAX: '1000' },
    })
    const both = [nodes.a.client, nodes.b.client]
    const acknowledged: PendingEnrollment[] = []
    for (let round = 0; round < rounds; round++) {
      const load = new AbortController()
      let firstAnswerMs = Infinity
      let backMs = Infinity
      const work = Array.from({ length: clients }, async (_, client) => {
        for (let turn = 0; !load.signal.aborted; turn++) {
          const name = `Round ${round}, client ${client}, turn ${turn}`
          const asked = { name, requestId: randomUUID() }
          const answeredMs = await enroll(asked, both, client)
          acknowledged.push(asked)
          if (answeredMs > backMs) firstAnswerMs = Math.min(firstAnswerMs, answeredMs)
        }
      })
      await sleep(500 + Math.random() * 1000)
      await cluster.killAll()
      await sleep(500)
      await cluster.restart()
      backMs = performance.now()
      await sleep(3000)
      load.abort()
      await Promise.all(work)
      report(t, round, firstAnswerMs - backMs)
      assert.ok(firstAnswerMs - backMs < 5000, `answers came ${firstAnswerMs - backMs} ms after it`)
    }
    await assertAllEnrolled(acknowledged, both)
    await nodes.local.database.gate.sweep()
    const charged = (await callLogRows(nodes.local)).filter(({ transferId }) => transferId !== null)
    assert.deepEqual(
      charged
        .filter(({ action }) => action === 'svc.enroll')
        .map(({ requestId }) => requestId)
        .toSorted(),
      acknowledged.map(({ requestId }) => requestId).toSorted(),
    )
    await assertLedgerAudit(nodes.local)
    t.diagnostic(`${acknowledged.length} enrolments were acknowledged, and all are there`)
  },
)

function report(t: TestContext, round: number, afterMs: number): void {
  t.diagnostic(
    `round ${round + 1}: the first answer came ${Math.round(afterMs)} ms after the database`,
  )
}

/** Asked again, each finds its answer; a sample of the faces is found by both nodes. */
async function assertAllEnrolled(
  acknowledged: readonly PendingEnrollment[],
  nodes: readonly GalleryClient[],
): Promise<void> {
  for (const [at, asked] of acknowledged.entries()) {
    if (at % 5 === 0) await enroll(asked, nodes, at)
    if (at % 25 !== 0) continue
    const seen = await nodes[at % 2]?.value('svc.identify', imageParams(asked.name))
    assert.equal(seen.bestMatch?.subjectId, asked.subjectId)
  }
  const counts = await Promise.all(
    nodes.map((node) => node.value('svc.identify', imageParams('Nobody at all'))),
  )
  assert.deepEqual(
    counts.map(({ gallerySize }) => gallerySize),
    nodes.map(() => acknowledged.length),
  )
}
