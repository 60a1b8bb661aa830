import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findViolations, medianPhase } from '../../../bench/overload/limits.ts'
import { runPhase, type PhaseResult } from '../../../bench/overload/phase.ts'
import { startGallery } from '../../support/gallery/test-gallery.ts'
import { openFaultyPool } from '../../support/vision/faulty-pool.ts'

test('The overload program counts accepted and rejected calls, and every call is answered', async () => {
  await using pool = openFaultyPool({ queuePerWorkerMax: 10 })
  await using gallery = await startGallery({ vision: pool })
  await pool.ready()
  const image = { kind: 'image', bytes: 'sleep 20', contentType: 'image/jpeg' }
  const service = {
    url: gallery.url,
    key: gallery.key,
    rssBytes: async () => process.memoryUsage.rss(),
    cpuMs: async () => process.cpuUsage().user / 1000,
  }
  const result = await runPhase(service, {
    body: Buffer.from(JSON.stringify({ action: 'svc.detect', params: { images: [image] } })),
    capacityPerS: 50,
    factor: 4,
    durationMs: 500,
  })
  assert.equal(result.sentPerS, 200)
  assert.equal(result.failedCount, 0)
  assert.ok(result.rejectedCount <= 100 - 11, 'one call is analyzed and ten wait')
  assert.ok(result.peakRssBytes > 0 && result.cpuMsPerCall > 0)
  assert.equal(pool.stats().queued, 0)
})

const atCapacity: PhaseResult = {
  factor: 1,
  sentPerS: 20,
  goodputPerS: 20,
  acceptedP99Ms: 100,
  rejectedCount: 0,
  rejectedP50Ms: Number.NaN,
  rejectedP99Ms: Number.NaN,
  rejectedMaxMs: Number.NEGATIVE_INFINITY,
  failedCount: 0,
  peakRssBytes: 200 * 2 ** 20,
  cpuMsPerCall: 1,
}

test('The median of the times until a rejection ignores rounds without a rejection', () => {
  const rejecting = { ...atCapacity, rejectedCount: 2, rejectedP99Ms: 60 }
  assert.equal(medianPhase([atCapacity, rejecting, atCapacity]).rejectedP99Ms, 60)
})

test('The overload program reports each exceeded limit, and none at the limit', () => {
  const overload = { ...atCapacity, factor: 10, rejectedCount: 9, rejectedP99Ms: 49.9 }
  const violationsOf = (change: Partial<PhaseResult>) => {
    const phases = [atCapacity, { ...overload, ...change }]
    return findViolations(phases, [phases])
  }
  assert.deepEqual(violationsOf({ goodputPerS: 18, peakRssBytes: 300 * 2 ** 20 }), [])
  assert.match(violationsOf({ goodputPerS: 17.9 }).join('\n'), /^10×: 17\.9 successful calls\/s$/u)
  assert.match(violationsOf({ rejectedP99Ms: 50 }).join('\n'), /^10×: rejections take 50\.0 ms/u)
  assert.match(violationsOf({ peakRssBytes: 301 * 2 ** 20 }).join('\n'), /^10×: 301 MiB/u)
  assert.match(violationsOf({ rejectedCount: 0 }).join('\n'), /^no call was rejected/u)
  assert.match(violationsOf({ failedCount: 1 }).join('\n'), /^1 calls failed/u)
})
