import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { postgresSkipReason } from '../support/database/postgres-server.ts'
import { repeatWhileBusy } from '../support/facegate/test-client.ts'
import { frameImages, framesOf } from '../support/gallery/challenge-frames.ts'
import type { GalleryClient } from '../support/gallery/test-gallery.ts'
import { sharedGalleryNodes } from '../support/nodes/test-nodes.ts'
import { closeSharedServices } from '../support/shared-service.ts'

const skip = postgresSkipReason ?? false
const callCount = 60

after(closeSharedServices)

/** Sends the same parameters to both nodes in parallel, each call with its own requestId. */
async function callInParallel(clients: readonly GalleryClient[], action: string, params: object) {
  const calls = Array.from({ length: callCount }, async (_, index) => {
    const client = clients[index % clients.length]
    if (!client) throw new RangeError('there is no client')
    const { status, body } = await repeatWhileBusy(() => client.call(action, params))
    assert.equal(status, 200, JSON.stringify(body))
    return body
  })
  const bodies = await Promise.all(calls)
  const codes = bodies.map((body) => String(body.errors[0]?.code ?? 'OK'))
  return { bodies, count: (code: string) => codes.filter((one) => one === code).length }
}

test(
  `Of ${callCount} parallel uses of one session, and of its reference frame, on two nodes exactly one counts`,
  { skip },
  async () => {
    const nodes = await sharedGalleryNodes()
    const clients = [nodes.a.client, nodes.b.client]
    const { local } = nodes
    const { body: challenge } = await local.rest('POST', '/v1/liveness/sessions', {})
    const { sessionId: livenessSessionId, steps, angles } = challenge
    const images = frameImages(framesOf(steps, {}, angles))
    const answers = await callInParallel(clients, 'svc.liveness', { livenessSessionId, images })
    assert.deepEqual(
      [answers.count('OK'), answers.count('LIVENESS_SESSION_NOT_FOUND')],
      [1, callCount - 1],
    )
    const params = { livenessSessionId }
    const used = await callInParallel(clients, 'svc.identify', params)
    assert.deepEqual([used.count('OK'), used.count('LIVENESS_FAILED')], [1, callCount - 1])
    const { db } = local.database.store
    const frames = await db.selectFrom('livenessFrames').select('sessionId').execute()
    assert.deepEqual(frames, [])
  },
)
