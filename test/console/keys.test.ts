import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  defaultPermissions,
  permissionPresets,
  presetOf,
} from '../../web/keys/permission-presets.ts'
import { createTestClient } from '../support/facegate/test-facegate.ts'
import {
  assertOk,
  startConsole,
  validPassword,
  type TestConsole,
} from '../support/console/test-console.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'

let nowMs = Date.now()
let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole({ clock: () => nowMs })
})
after(() => testConsole[Symbol.asyncDispose]())

const dayMs = 86_400_000
const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, path, body)
const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body
const utc = (ms: number): string => new Date(ms).toISOString()

/** Moves the clock. The session of the owner may end meanwhile. */
async function pass(ms: number): Promise<void> {
  nowMs += ms
  assertOk(await send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
}

async function createKey(name: string, permissions: readonly string[] = ['svc.detect']) {
  const body = { projectId: testConsole.projectId, name, permissions }
  return assertOk(await send('POST', '/keys', body)).body
}

async function listedKey(keyId: string) {
  const { items } = await get('/keys')
  return items.find((item: { keyId: string }) => item.keyId === keyId)
}

const detect = (key: string) =>
  createTestClient(testConsole.url, key).post({ action: 'svc.detect', params: imageParams('Ada') })

async function lastAuditEntry(auditAction: string) {
  const { items } = await get(`/audit?auditAction=${auditAction}&limit=1`)
  const [{ target, detail }] = items
  return { target, detail: typeof detail === 'string' ? JSON.parse(detail) : detail }
}

test('A rotated key has a new secret, and the former one until the end of its overlap', async () => {
  const { keyId, key, last4, formerSecret } = await createKey('kiosk')
  assert.equal(formerSecret, null)
  const rotated = assertOk(await send('POST', `/keys/${keyId}/rotate`, { overlapHours: 1 })).body
  const endsAtUtc = utc(nowMs + 3_600_000)
  const expected = { last4, endsAtUtc, lastUsedAtUtc: null, isValid: true }
  assert.deepEqual(rotated.formerSecret, expected)
  assert.deepEqual([rotated.keyId, rotated.last4], [keyId, rotated.key.slice(-4)])
  assert.equal((await detect(key)).status, 200)
  assert.equal((await detect(rotated.key)).status, 200)
  const listed = await listedKey(keyId)
  assert.deepEqual(listed.formerSecret, { ...expected, lastUsedAtUtc: utc(nowMs) })
  assert.equal(listed.rotatedAtUtc, utc(nowMs))
  const audited = await lastAuditEntry('key.rotate')
  assert.equal(audited.target, keyId)
  assert.deepEqual([audited.detail.formerLast4, audited.detail.formerEndsAtUtc], [last4, endsAtUtc])
  const everything = JSON.stringify([listed, audited, await get('/audit'), await get('/keys')])
  for (const secret of [key, rotated.key]) assert.ok(!everything.includes(secret.slice(9, 30)))

  await pass(3_600_000)
  assert.equal((await detect(key)).status, 401)
  assert.equal((await listedKey(keyId)).formerSecret.isValid, false)
  assert.equal((await detect(rotated.key)).status, 200)
})

test('An overlap can be ended early, and a rotation without overlap ends the former secret at once', async () => {
  const { keyId, key } = await createKey('terminal')
  const noOverlap = await send('POST', `/keys/${keyId}/end-overlap`)
  assert.equal(noOverlap.status, 409)
  const second = assertOk(await send('POST', `/keys/${keyId}/rotate`, { overlapHours: 168 })).body
  assert.equal((await detect(key)).status, 200)
  assertOk(await send('POST', `/keys/${keyId}/end-overlap`))
  assert.equal((await detect(key)).status, 401)
  const third = assertOk(await send('POST', `/keys/${keyId}/rotate`, { overlapHours: 0 })).body
  assert.equal((await detect(second.key)).status, 401)
  assert.equal((await detect(third.key)).status, 200)
  assert.equal((await send('POST', `/keys/${keyId}/rotate`, { overlapHours: 2 })).status, 422)
  assertOk(await send('POST', `/keys/${keyId}/revoke`, { confirm: 'terminal' }))
  const refused = await send('POST', `/keys/${keyId}/rotate`, { overlapHours: 0 })
  assert.deepEqual([refused.status, refused.body.detail], [409, revokedText])
  assert.equal((await send('PATCH', `/keys/${keyId}`, { name: 'x' })).status, 409)
})

const revokedText = 'The key is revoked and cannot be rotated. Create a new key.'

test('A change of a key applies to the next call, and the audit entry has before and after', async () => {
  const { keyId, key, expiresAtUtc } = await createKey('door', ['svc.detect', 'debug'])
  const edit = (body: object) => send('PATCH', `/keys/${keyId}`, body)
  assert.equal((await detect(key)).body.ok, true)
  assertOk(await edit({ name: 'gate', permissions: ['svc.identify'] }))
  assert.equal((await detect(key)).body.errors[0].code, 'FORBIDDEN')
  assert.deepEqual((await lastAuditEntry('key.edit')).detail, {
    before: { name: 'door', permissions: ['svc.detect', 'debug'] },
    after: { name: 'gate', permissions: ['svc.identify'] },
  })
  const sooner = utc(nowMs + 60_000)
  assertOk(await edit({ name: 'gate', permissions: ['svc.detect'], expiresAtUtc: sooner }))
  assert.deepEqual((await lastAuditEntry('key.edit')).detail, {
    before: { permissions: ['svc.identify'], expiresAtUtc },
    after: { permissions: ['svc.detect'], expiresAtUtc: sooner },
  })
  assert.equal((await detect(key)).body.ok, true)
  await pass(60_000)
  assert.equal((await detect(key)).status, 401, 'it expired')
  const expired = await send('POST', `/keys/${keyId}/rotate`, { overlapHours: 0 })
  assert.equal(expired.status, 409)
  assert.equal((await edit({ expiresAtUtc: utc(nowMs) })).status, 422)
  assertOk(await edit({ expiresAtUtc: null }))
  assert.equal((await detect(key)).body.ok, true, 'an expired key can be extended')
  for (const body of [{ permissions: [] }, { permissions: ['svc.typo'] }, { name: '' }])
    assert.equal((await edit(body)).status, 422)
  assert.equal((await send('PATCH', `/keys/${testConsole.projectId}`, {})).status, 404)
})

test('Permissions are added and removed one by one, also at the same time', async () => {
  const { keyId } = await createKey('door', ['svc.detect', 'debug'])
  const edit = (body: object) => send('PATCH', `/keys/${keyId}`, body)
  const responses = await Promise.all([
    edit({ addPermissions: ['svc.identify'] }),
    edit({ addPermissions: ['svc.verify'], removePermissions: ['debug'] }),
    edit({ addPermissions: ['svc.enroll', 'svc.detect'], removePermissions: ['svc.liveness'] }),
  ])
  for (const response of responses) assertOk(response)
  const { permissions } = assertOk(await edit({})).body
  const expected = ['svc.detect', 'svc.enroll', 'svc.identify', 'svc.verify']
  assert.deepEqual(permissions.toSorted(), expected)
  const refused = await edit({ removePermissions: expected })
  assert.deepEqual(
    [refused.status, refused.body.detail],
    [409, 'A key needs at least one permission. Add one, or revoke the key.'],
  )
})

test('The usage of a key counts calls, failures and cost of 24 hours and 30 days', async () => {
  await pass(40 * dayMs)
  const { keyId, key } = await createKey('counted', ['svc.detect'])
  const forbidden = () =>
    createTestClient(testConsole.url, key).post({ action: 'svc.echo', params: {} })
  await detect(key)
  await pass(2 * dayMs)
  await detect(key)
  await forbidden()
  const unused = await createKey('unused')
  const usage = await get(`/key-usage?keyIds=${keyId},${unused.keyId}`)
  const { dayFromUtc, monthFromUtc, items } = usage
  const [{ day, month }] = items
  assert.equal(items.length, 1, 'a key without calls is left out')
  assert.deepEqual([day.calls, day.failed, month.calls, month.failed], [2, 1, 3, 1])
  assert.equal(BigInt(month.costMicros), 2n * BigInt(day.costMicros))
  assert.ok(BigInt(day.costMicros) > 0n)
  const log = async (fromUtc: string, more = '') =>
    (await get(`/log?keyId=${keyId}&fromUtc=${fromUtc}${more}`)).items.length
  assert.deepEqual(
    [await log(dayFromUtc), await log(dayFromUtc, '&result=failed'), await log(monthFromUtc)],
    [day.calls, day.failed, month.calls],
    'the link to the log shows the counted calls',
  )
  assert.equal((await testConsole.owner.get('/key-usage?keyIds=x')).status, 422)
})

test('Each preset selects permissions that exist, and only one preset deletes', async () => {
  const permissions = await get('/permissions')
  const all = permissions.map(({ permission }: { permission: string }) => permission)
  assert.equal(new Set(all).size, all.length, 'each permission is listed once')
  const deleting = permissionPresets.filter(({ select }) => {
    const selected = select(all)
    assert.ok(selected.length > 0)
    assert.equal(presetOf([...selected].toReversed(), permissions)?.select, select)
    assert.ok(!selected.includes('*') && !selected.includes('debug'))
    return selected.includes('svc.deleteSubject') || selected.includes('groups:delete')
  })
  assert.deepEqual(
    deleting.map(({ name }) => name),
    ['Everything, with deletion'],
  )
  const kiosk = permissionPresets.find(({ name }) => name.startsWith('Kiosk'))
  assert.deepEqual(kiosk?.select(all), ['svc.identify'])
  const ofNewKey = defaultPermissions(permissions)
  assert.ok(ofNewKey.includes('svc.enroll') && !ofNewKey.includes('svc.deleteSubject'))
  assert.equal(presetOf(['svc.enroll', 'debug'], permissions), undefined)
})
