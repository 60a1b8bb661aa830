import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { imageParams, type GalleryClient } from '../../support/gallery/test-gallery.ts'
import { assertLedgerAudit, callLogRows } from '../../support/gate/test-gate.ts'
import { startGalleryNodes } from '../../support/nodes/test-nodes.ts'
import { clusterSkipReason, startPostgresCluster } from '../../support/database/postgres-server.ts'

const skip = clusterSkipReason ?? false
const rounds = Number(process.env['DATABASE_KILLS'] ?? 2)

/** The longest wait for a response after a restart. */
const waitMsMax = 60_000
const clients = 40

/** The mean pause before a retry. Shorter ones only occupy the processor while the database is down. */
const retryMs = 150

/** Each round kills the database during the enrollments after this many. */
const enrolledBeforeKill = 40

type PendingEnrollment = {
  readonly name: string
  readonly requestId: string
  /** The subject's id. A retry must return the same one. */
  subjectId?: string
}

/**
 * Enrolls a subject. The request is repeated on alternating nodes until it has a response.
 *
 * @returns the time of the response.
 */
async function enroll(
  enrollment: PendingEnrollment,
  nodes: readonly GalleryClient[],
  first: number,
) {
  const { name, requestId } = enrollment
  for (let turn = first; ; turn++) {
    const node = nodes[turn % nodes.length]
    const params = { ...imageParams(name), duplicateCheck: 'off', externalId: requestId }
    const response = await node
      ?.call('svc.enroll', params, { requestId })
      .catch(undefinedIfConnectionClosed)
    if (response?.status === 200) {
      assert.deepEqual(response.body.errors, [])
      const { subjectId, embeddingCount } = response.body.data.results[0].value
      assert.equal(enrollment.subjectId ?? subjectId, subjectId, 'a retry returns the first result')
      assert.equal(embeddingCount, 1)
      enrollment.subjectId = subjectId
      return performance.now()
    }
    if (response) assert.equal(response.status, 503, JSON.stringify(response.body))
    await sleep(retryMs * (0.5 + Math.random()))
  }
}

/**
 * The server closes an idle connection after some seconds. On a machine that stands still for so long,
 * a request can be sent on it meanwhile. The client repeats it like one that was answered with 503.
 */
function undefinedIfConnectionClosed(error: Error): undefined {
  if (!(error.cause instanceof Error && 'code' in error.cause)) throw error
  // The second is the code of the HTTP client.
  if (!['ECONNRESET', 'UND_ERR_SOCKET'].includes(String(error.cause.code))) throw error
}

test(
  `Acknowledged enrollments survive kill -9 of the database under load, and all are charged (${rounds} rounds)`,
  {
    skip,
  },
  async (t) => {
    await using cluster = await startPostgresCluster()
    await using database = await cluster.createDatabase()
    await using nodes = await startGalleryNodes({
      databaseUrl: database.url,
      // Reservations of calls that the crash interrupted are released soon.
      environment: { CALL_TIMEOUT_MS: '2000', IN_FLIGHT_WAIT_MS_MAX: '1000' },
    })
    const both = [nodes.a.client, nodes.b.client]
    const acknowledged: PendingEnrollment[] = []
    for (let round = 0; round < rounds; round++) {
      const load = new AbortController()
      let firstResponseMs = Infinity
      let restartedMs = Infinity
      const work = Array.from({ length: clients }, async (_, client) => {
        for (let turn = 0; !load.signal.aborted; turn++) {
          const name = `Round ${round}, client ${client}, turn ${turn}`
          const enrollment = { name, requestId: randomUUID() }
          const receivedMs = await enroll(enrollment, both, client)
          acknowledged.push(enrollment)
          if (receivedMs > restartedMs) firstResponseMs = Math.min(firstResponseMs, receivedMs)
        }
      })
      const enoughForKill = acknowledged.length + enrolledBeforeKill
      while (acknowledged.length < enoughForKill) await sleep(5)
      await sleep(Math.random() * 200)
      await cluster.killAll()
      await sleep(200)
      await cluster.restart()
      restartedMs = performance.now()
      const enough = acknowledged.length + 50
      const isServing = () => firstResponseMs < Infinity && acknowledged.length >= enough
      while (!isServing()) {
        assert.ok(performance.now() < restartedMs + waitMsMax, 'no response after the restart')
        await sleep(20)
      }
      load.abort()
      await Promise.all(work)
      report(t, round, firstResponseMs - restartedMs)
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
    t.diagnostic(`${acknowledged.length} enrollments were acknowledged, and all exist`)
  },
)

function report(t: TestContext, round: number, delayMs: number): void {
  t.diagnostic(
    `round ${round + 1}: the first response came ${Math.round(delayMs)} ms after the restart`,
  )
}

/** Verifies that retries return the first result, and that both nodes find a sample of the faces. */
async function assertAllEnrolled(
  acknowledged: readonly PendingEnrollment[],
  nodes: readonly GalleryClient[],
): Promise<void> {
  for (const [index, enrollment] of acknowledged.entries()) {
    if (index % 5 === 0) await enroll(enrollment, nodes, index)
    if (index % 25 !== 0) continue
    const result = await nodes[index % 2]?.value('svc.identify', imageParams(enrollment.name))
    assert.equal(result.bestMatch?.subjectId, enrollment.subjectId)
  }
  const counts = await Promise.all(
    nodes.map((node) => node.value('svc.identify', imageParams('Not enrolled'))),
  )
  assert.deepEqual(
    counts.map(({ gallerySize }) => gallerySize),
    nodes.map(() => acknowledged.length),
  )
}
