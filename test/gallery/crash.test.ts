import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'node:test'
import { auditLedger } from '../../src/billing/audit-ledger.ts'
import { openStore } from '../../src/store/open-store.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import { killGalleryProcess, startGalleryProcess } from '../support/gallery/gallery-process.ts'

const rounds = Number(process.env['GALLERY_CRASH_ROUNDS'] ?? 3)
const inFlight = 200

const enrolment = (round: number, at: number) => ({
  action: 'svc.enroll',
  requestId: randomUUID(),
  params: {
    ...imageParams(`Round ${round}, person ${at}`),
    externalId: `${round}-${at}`,
    onExisting: 'reject',
    duplicateCheck: 'off',
  },
})

test(`what was acknowledged is there after kill -9 amid ${inFlight} enrolments (${rounds} rounds)`, async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  let server = await startGalleryProcess(dataDir)
  const { key } = server
  for (let round = 0; round < rounds; round++) {
    const calls = Array.from({ length: inFlight }, (_, at) => enrolment(round, at))
    const acknowledged = new Map<string, string>()
    const sending = calls.map(async (call) => {
      const { body } = await server.client.post(call)
      assert.deepEqual(body.errors, [])
      acknowledged.set(call.requestId, body.data.results[0].value.subjectId)
    })
    const settled = Promise.allSettled(sending)
    await sleep(40 + Math.random() * 400)
    await killGalleryProcess(server)
    await settled
    server = await startGalleryProcess(dataDir, key)
    const { client } = server
    // A retry finds the first answer or runs once; nothing is there twice or by half.
    for (const [at, call] of calls.entries()) {
      const { body } = await client.post(call)
      assert.deepEqual(body.errors, [])
      const { subjectId, embeddingCount } = body.data.results[0].value
      assert.equal(acknowledged.get(call.requestId) ?? subjectId, subjectId)
      assert.equal(embeddingCount, 1)
      if (at % 10 !== 0) continue
      const seen = await client.value('svc.identify', imageParams(`Round ${round}, person ${at}`))
      assert.equal(seen.bestMatch?.subjectId, subjectId)
    }
    const { body } = await client.rest('GET', '/v1/subjects?limit=1')
    assert.equal(body.items[0].embeddingCount, 1)
    const seen = await client.value('svc.identify', imageParams('Nobody at all'))
    assert.equal(seen.gallerySize, (round + 1) * inFlight)
  }
  await killGalleryProcess(server)
  const store = await openStore(dataDir)
  const broken = (await auditLedger(store.db, Date.now())).filter(({ ok }) => !ok)
  await store.close()
  assert.deepEqual(broken, [])
  await rm(dataDir, { recursive: true, force: true })
})
