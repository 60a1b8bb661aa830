import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setPrice } from '../../src/store/billing/prices.ts'
import { rotateKey } from '../../src/store/tenancy/key-changes.ts'
import { createKey } from '../../src/store/tenancy/keys.ts'
import { updateProject } from '../../src/store/tenancy/projects.ts'
import { imageParams, startGallery, type TestGallery } from '../support/gallery/test-gallery.ts'

let gallery: TestGallery
before(async () => {
  gallery = await startGallery()
})
after(() => gallery[Symbol.asyncDispose]())

type Price = { readonly action: string; readonly priceMicros: string }

test('A key without further permissions reads its project, permissions, limits and prices', async () => {
  const { db } = gallery.database.store
  const permissions = ['svc.detect', 'svc.identify']
  const client = await gallery.createProjectClient({ galleryMode: 'shared', permissions })
  const { projectId, name, accountId } = client.project
  await updateProject(db, projectId, { sustainedPerS: 1, burst: 5 })
  await setPrice(db, accountId, { action: 'svc.identify', unitMicros: 70n })
  const { status, body, headers } = await client.rest('GET', '/v1/me')
  assert.equal(status, 200)
  assert.deepEqual(body.project, { projectId, name, galleryMode: 'shared' })
  assert.deepEqual(body.permissions, permissions)
  assert.equal(body.expiresAtUtc, null)
  const { sustainedPerS, burst, remaining } = body.rateLimit
  assert.deepEqual([sustainedPerS, burst], [1, 5])
  // The clock may have added a token since the admission of this request.
  assert.ok(remaining >= Number(headers.get('ratelimit-remaining')))
  assert.deepEqual(
    body.prices.map(({ action, priceMicros }: Price) => [action, priceMicros]),
    [
      ['svc.detect', '1000'],
      ['svc.identify', '140'],
    ],
  )
})

test('The budget is what charged calls have left, and reading it is free', async () => {
  const client = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const read = async () => (await client.rest('GET', '/v1/me')).body.budget
  const available = { billing: true, availableMicros: '1000000000', reservedMicros: '0' }
  assert.deepEqual(await read(), available)
  await client.value('svc.detect', imageParams('Ada'))
  const left = { ...available, availableMicros: '999999000' }
  assert.deepEqual(await read(), left)
  const { db } = gallery.database.store
  await updateProject(db, client.project.projectId, { switches: { billing: false } })
  assert.deepEqual(await read(), { ...left, billing: false })
})

test('A rotated secret reports its own end, and the new secret that of the key', async () => {
  const project = await gallery.createProjectClient({ galleryMode: 'isolated' })
  const { store } = gallery.database
  const now = new Date()
  const expiresAtUtc = new Date(now.getTime() + 86_400_000).toISOString()
  const { projectId } = project.project
  const created = await createKey(
    store.db,
    { projectId, name: 'door', permissions: ['svc.detect'], expiresAtUtc },
    now,
  )
  const endOf = async (key: string) =>
    (await gallery.withKey(key).rest('GET', '/v1/me')).body.expiresAtUtc
  assert.equal(await endOf(created.key), expiresAtUtc)
  const overlapMs = 3_600_000
  const rotated = await rotateKey(store.db, { keyId: created.keyId, overlapMs }, now)
  assert.ok(rotated.state === 'active')
  assert.equal(await endOf(created.key), rotated.formerEndsAtUtc)
  assert.equal(await endOf(rotated.key), expiresAtUtc)
})

test('A request without a valid key is rejected', async () => {
  const { status } = await gallery.withKey('fsk_live_x').rest('GET', '/v1/me')
  assert.equal(status, 401)
})
