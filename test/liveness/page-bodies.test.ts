import assert from 'node:assert/strict'
import { after, before, mock, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { createSession } from '../support/gallery/challenge-gallery.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'
import { openBody } from '../support/network/open-body.ts'

const mebibyte = 1024 * 1024
const origin = 'https://app.example.org'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery({
    environment: {
      BODY_BYTES_MAX: String(mebibyte),
      BODIES_PER_PROJECT_BYTES_MAX: String(mebibyte),
      BODIES_PER_ACCOUNT_BYTES_MAX: String(3 * mebibyte),
      BODIES_BYTES_MAX: String(4 * mebibyte),
    },
  })
  // The rate of an open body is checked only when a test advances the time.
  mock.timers.enable({ apis: ['setInterval'] })
})
after(async () => {
  mock.timers.reset()
  await gallery[Symbol.asyncDispose]()
})

test('Bodies that a page keeps open take no memory from calls with the key of the project', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated', permissions: ['*'] })
  const { db } = gallery.database.store
  await updateProject(db, client.project.projectId, { livenessOrigins: origin })
  const session = await createSession(client)
  const path = `/v1/liveness/sessions/${session.livenessSessionId}/frames`
  const headers = [`Origin: ${origin}`, `X-Session-Token: ${String(session['sessionToken'])}`]
  const sent = Buffer.alloc(mebibyte - 4096, ' ')
  const call = { url: client.url, key: client.key, path, headers, announcedBytes: mebibyte, sent }
  const open = await openBody(call)
  while (gallery.bodyBudget.stats().reservedBytes < sent.length) {
    assert.ok(!open.destroyed)
    await nextTurn()
  }
  // A body of spaces and a call that is larger than the rest of one share.
  const text = JSON.stringify({ action: 'svc.detect', params: imageParams('A') })
  const response = await fetch(`${client.url}/v1/face/execute`, {
    method: 'POST',
    headers: { 'x-api-key': client.key, 'content-type': 'application/json' },
    body: `${' '.repeat(8192)}${text}`,
  })
  assert.equal(response.status, 200, await response.text())
  open.destroy()
})
