import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { images, type GalleryClient } from '../gallery.ts'
import { assertBooks, logRows } from '../gate.ts'
import { startGalleries } from '../nodes.ts'
import { clusterMissing, startCluster } from '../postgres.ts'

const skip = clusterMissing ?? false
const rounds = Number(process.env['DATABASE_KILLS'] ?? 5)
const clients = 40

type Asked = {
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
async function enroll(asked: Asked, nodes: readonly GalleryClient[], first: number) {
  for (let turn = first; ; turn++) {
    const node = nodes[turn % nodes.length]
    const params = { ...images(asked.name), duplicateCheck: 'off', externalId: asked.requestId }
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
    await using cluster = await startCluster()
    await using database = await cluster.freshDatabase()
    await using nodes = await startGalleries({
      databaseUrl: database.url,
      // What a call had set aside when the database died is soon free again.
      environment: { ATTEMPT_MS_MAX: '2000', TWIN_WAIT_MS_MAX: '1000' },
    })
    const both = [nodes.a.client, nodes.b.client]
    const acknowledged: Asked[] = []
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
      await cluster.kill9()
      await sleep(500)
      await cluster.restart()
      backMs = performance.now()
      await sleep(3000)
      load.abort()
      await Promise.all(work)
      report(t, round, firstAnswerMs - backMs)
      assert.ok(firstAnswerMs - backMs < 5000, `answers came ${firstAnswerMs - backMs} ms after it`)
    }
    await everybodyIsThere(acknowledged, both)
    await nodes.inside.books.gate.sweep()
    const charged = (await logRows(nodes.inside)).filter(({ transferId }) => transferId !== null)
    assert.deepEqual(
      charged
        .filter(({ action }) => action === 'svc.enroll')
        .map(({ requestId }) => requestId)
        .toSorted(),
      acknowledged.map(({ requestId }) => requestId).toSorted(),
    )
    await assertBooks(nodes.inside)
    t.diagnostic(`${acknowledged.length} enrolments were acknowledged, and all are there`)
  },
)

function report(t: TestContext, round: number, afterMs: number): void {
  t.diagnostic(
    `round ${round + 1}: the first answer came ${Math.round(afterMs)} ms after the database`,
  )
}

/** Asked again, each finds its answer; a sample of the faces is found by both nodes. */
async function everybodyIsThere(
  acknowledged: readonly Asked[],
  nodes: readonly GalleryClient[],
): Promise<void> {
  for (const [at, asked] of acknowledged.entries()) {
    if (at % 5 === 0) await enroll(asked, nodes, at)
    if (at % 25 !== 0) continue
    const seen = await nodes[at % 2]?.value('svc.identify', images(asked.name))
    assert.equal(seen.bestMatch?.subjectId, asked.subjectId)
  }
  const counts = await Promise.all(
    nodes.map((node) => node.value('svc.identify', images('Nobody at all'))),
  )
  assert.deepEqual(
    counts.map(({ gallerySize }) => gallerySize),
    nodes.map(() => acknowledged.length),
  )
}
