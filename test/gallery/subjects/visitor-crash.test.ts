import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { project } from '../../../src/cli/tenancy/commands.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { killGalleryProcess, startGalleryProcess } from '../../support/gallery/gallery-process.ts'
import { listVisitors, takeOf } from '../../support/gallery/visitors.ts'

const people = 40

test('After kill -9, a retry gives each person one visitor, and a visitor is promoted completely or not at all', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-crash-'))
  let server = await startGalleryProcess(dataDir)
  const { key } = server
  await runJson(dataDir, project, 'set default --unknown-people 30')
  /** Sends all requests at once and kills the server after the first response. */
  const sendAndKill = async (requests: readonly (() => Promise<unknown>)[]): Promise<void> => {
    let isFirst = true
    const sending = requests.map(async (send) => {
      await send()
      if (isFirst) void killGalleryProcess(server)
      isFirst = false
    })
    await Promise.allSettled(sending)
    await killGalleryProcess(server)
    server = await startGalleryProcess(dataDir, key)
  }
  const calls = Array.from({ length: people }, (_, index) => ({
    action: 'svc.identify',
    requestId: randomUUID(),
    params: takeOf(`Person ${index}`, 0),
  }))
  await sendAndKill(calls.map((call) => () => server.client.post(call)))
  const visitorIds: string[] = []
  for (const call of calls) {
    const { body } = await server.client.post(call)
    assert.deepEqual(body.errors, [])
    visitorIds.push(body.data.results[0].value.faces[0].visitorId)
  }
  const visitors = await listVisitors(server.client, '?limit=200')
  assert.deepEqual(visitors.map(({ visitorId }) => visitorId).toSorted(), visitorIds.toSorted())
  for (const { visitCount, embeddingCount } of visitors)
    assert.deepEqual([visitCount, embeddingCount], [1, 1])

  await sendAndKill(
    visitorIds.map((id) => () => server.client.rest('POST', `/v1/visitors/${id}/promote`, {})),
  )
  const left = new Set(
    (await listVisitors(server.client, '?limit=200')).map(({ visitorId }) => visitorId),
  )
  assert.ok(left.size < people, 'at least one promotion was completed')
  for (const [index, visitorId] of visitorIds.entries()) {
    const found = await server.client.value('svc.identify', takeOf(`Person ${index}`, 1))
    assert.equal(found.matched, !left.has(visitorId))
    assert.equal(found.faces[0].visitorId, left.has(visitorId) ? visitorId : undefined)
  }
  await killGalleryProcess(server)
  await rm(dataDir, { recursive: true, force: true })
})
