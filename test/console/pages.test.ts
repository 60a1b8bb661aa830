import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { consoleRoutes } from '../../src/console/routes.ts'
import { defaultSwitches } from '../../src/store/tenancy/switches.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import { assertLedgerAudit } from '../support/gate/test-gate.ts'
import {
  validPassword,
  assertOk,
  startConsole,
  type TestConsole,
} from '../support/console/test-console.ts'
import { changeAccounts } from '../support/console/account-writes.ts'
import { pageWrites } from '../support/console/page-writes.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole({ environment: { AUTH_FAILURES_BURST: '1000' } })
})
after(() => testConsole[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, path, body)
const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body

async function runInPlayground(action: string, params: object, more: object = {}) {
  const call = { action, params, ...more }
  return assertOk(await send('POST', '/playground', { projectId: testConsole.projectId, call }))
    .body
}

test('Every successful write adds one audit entry; a failed write adds none', async () => {
  const auditEntries = async () => (await get('/audit?limit=200')).items
  const pages = await pageWrites(testConsole)
  await changeAccounts(testConsole)
  const before = (await auditEntries()).length
  const { projectId } = testConsole
  const project = `/projects/${projectId}`
  const enrolled = await runInPlayground('svc.enroll', { ...imageParams('Ada'), groups: ['crew'] })
  const { subjectId } = enrolled.envelope.data.results[0].value
  const more = await runInPlayground('svc.enroll', {
    ...imageParams({ name: 'Ada', deviation: 0.3, take: 1 }),
    subjectId,
    duplicateCheck: 'off',
  })
  const { faceId } = more.envelope.data.results[0].value
  const key = { projectId, name: 'k', permissions: ['svc.detect'] }
  const created = assertOk(await send('POST', '/keys', key)).body
  const invited = assertOk(await send('POST', '/users', { name: 'Uma', role: 'viewer' })).body
  const { envelope } = await runInPlayground('svc.enroll', imageParams('Bob'))
  const bob = envelope.data.results[0].value.subjectId
  const writes: readonly (readonly [string, string, unknown])[] = [
    ['POST', '/projects', { name: 'second', galleryMode: 'shared' }],
    ['PATCH', project, { burst: 50 }],
    ['POST', `/keys/${created.keyId}/revoke`, { confirm: 'k' }],
    ['PATCH', `${project}/subjects/${subjectId}`, { displayName: 'Ada L.' }],
    ['DELETE', `${project}/subjects/${subjectId}/faces/${faceId}`, undefined],
    ['DELETE', `${project}/subjects/${bob}`, { confirm: bob.slice(0, 8) }],
    ['DELETE', `${project}/groups/crew`, { confirm: 'crew' }],
    ['POST', '/money/top-up', { amountMicros: '1000000', note: 'more' }],
    ['POST', '/money/allocate', { projectId, amountMicros: '500000' }],
    ['POST', '/playground/liveness-sessions', { projectId }],
    ...pages,
    ['PUT', '/money/prices/svc.detect', { unitMicros: '2000' }],
    ['PATCH', `/users/${invited.user.userId}`, { role: 'admin' }],
    ['POST', `/users/${invited.user.userId}/invite`, undefined],
    ['DELETE', `/users/${invited.user.userId}/invite`, { confirm: invited.user.name }],
    ['POST', '/password', { current: validPassword, next: validPassword }],
  ]
  for (const [method, path, body] of writes) assertOk(await send(method, path, body))
  const wrong = await send('POST', `/keys/${created.keyId}/revoke`, { confirm: 'no' })
  assert.equal(wrong.status, 422)
  const guest = testConsole.newClient()
  assertOk(await guest.send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
  assertOk(await guest.send('POST', '/sign-out'))
  const auditActions = (await auditEntries()).map(
    ({ auditAction }: { auditAction: string }) => auditAction,
  )
  assert.equal(auditActions.length, before + 3 + 2 + writes.length + 2)
  const expectedActions = consoleRoutes.flatMap((route) =>
    'auditAction' in route ? [route.auditAction] : [],
  )
  for (const action of expectedActions)
    assert.ok(auditActions.includes(action), `${action} is audited`)
  await assertLedgerAudit(testConsole.gallery)
})

/** Every user may change the own account. */
const ownAccountPath = /^\/(?:sign-out|password|sessions|second-factor)/u

test('A viewer can only read; an admin can change everything except users and prices', async (t) => {
  if (isOnPostgres()) return t.skip('the rule is the same on both databases')
  const viewer = await testConsole.inviteMember('viewer')
  const admin = await testConsole.inviteMember('admin')
  for (const route of consoleRoutes) {
    if (route.minimumRole === 'anonymous' || ownAccountPath.test(route.path)) continue
    const path = route.path.replaceAll(/:\w+/gu, '00000000-0000-4000-8000-000000000000')
    const body = route.method === 'GET' ? undefined : {}
    const viewerResponse = await viewer.send(route.method, path, body)
    const isAllowed = route.method === 'GET' && route.minimumRole === 'viewer'
    assert.equal(viewerResponse.status === 403, !isAllowed, `${route.method} ${path}`)
    const adminResponse = await admin.send(route.method, path, body)
    assert.equal(
      adminResponse.status === 403,
      route.minimumRole === 'owner',
      `${route.method} ${path}`,
    )
    const anonymousResponse = await testConsole.newClient().send(route.method, path, body)
    assert.equal(anonymousResponse.status, 401, `${route.method} ${path}`)
  }
})

test('A playground call is billed, logged and counted like any call, with a hidden key', async () => {
  const before = await get('/overview')
  const result = await runInPlayground('svc.detect', imageParams('Cleo'), { debug: true })
  assert.equal(result.envelope.ok, true)
  assert.equal(result.status, 200)
  assert.ok(BigInt(result.costMicros) > 0n)
  const { requestId } = result.envelope
  const { items } = await get(`/log?requestId=${requestId}`)
  assert.equal(items.length, 1)
  assert.equal(items[0].keyName, 'Console playground')
  assert.equal(items[0].costMicros, result.costMicros)
  const call = await get(`/log/${items[0].callId}`)
  assert.equal(call.transfer.amountMicros, result.costMicros)
  assert.equal(call.attempt.isResponseStored, true)
  const keys = (await get('/keys')).items.map(({ name }: { name: string }) => name)
  assert.ok(!keys.includes('Console playground'))
  const after = await get('/overview')
  assert.equal(after.calls, before.calls + 1)
  const spent = BigInt(after.spentMicros) - BigInt(before.spentMicros)
  assert.equal(String(spent), result.costMicros)
  const invalid = await runInPlayground('svc.nothing', {})
  assert.equal(invalid.envelope.errors[0].code, 'INVALID_REQUEST')
  assert.equal(invalid.costMicros, '0')
})

test('Charts match the request log, and the request log matches the ledger', async () => {
  for (const callId of ['x', '1.5', '12345678901234567890123'])
    assert.equal((await testConsole.owner.get(`/log/${callId}`)).status, 404, callId)
  const former = await get('/analytics/scores?kind=similarity')
  await runInPlayground('svc.verify', { images: [image('Dan'), image('Dan')] })
  await runInPlayground('svc.verify', { images: [image('Dan'), image('Eve')] })
  await runInPlayground('svc.liveness', { images: [image('Dan')] })
  const log = (await get('/log?limit=200')).items as { action: string; costMicros: string }[]
  const byAction = await get('/analytics/calls?by=action&bucket=day')
  for (const { name, total } of byAction.series)
    assert.equal(total, log.filter(({ action }) => action === name).length, name)
  const spend = await get('/analytics/spend?by=project')
  const cost = log.reduce((sum, row) => sum + BigInt(row.costMicros), 0n)
  assert.equal(spend.series[0].totalMicros, String(cost))
  const latency = await get('/analytics/latency')
  assert.ok(latency.overall.p50 > 0 && latency.overall.p50 <= latency.overall.p99)
  const scores = await get('/analytics/scores?kind=similarity')
  assert.equal(scores.counts.length + 1, scores.edges.length)
  assert.equal(scores.total - former.total, 2)
  assert.equal(scores.matched - former.matched, 1)
  assert.equal(scores.counts[49] - former.counts[49], 1)
  assert.equal(scores.threshold, 0.8)
  const { total, matched, threshold } = await get('/analytics/scores?kind=liveness')
  assert.deepEqual([total, matched, threshold], [1, 1, 0.9])
  const reconciled = await get('/money/reconcile')
  assert.equal(reconciled.ok, true)
  assert.equal(reconciled.logMicros, String(cost))
  const verified = await get('/money/verify')
  assert.deepEqual([verified.ok, verified.checks.length], [true, 9])
  assert.deepEqual((await get('/deletions/check')).ok, true)
})

test('New calls do not shift the pages of a list, and no call is listed twice', async () => {
  for (let index = 0; index < 5; index++)
    await runInPlayground('svc.detect', imageParams(`Page ${index}`))
  const callIds: number[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page = await get(`/log?limit=3${cursor && `&cursor=${cursor}`}`)
    callIds.push(...page.items.map(({ callId }: { callId: number }) => callId))
    cursor = page.nextCursor
    if (callIds.length < 7) await runInPlayground('svc.detect', imageParams('Later'))
  }
  assert.equal(new Set(callIds).size, callIds.length)
  assert.deepEqual(
    callIds,
    [...callIds].sort((a, b) => b - a),
  )
  assert.equal((await testConsole.owner.get('/log?cursor=nonsense')).status, 422)
  assert.equal((await testConsole.owner.get('/log?limit=201')).status, 422)
  assert.equal((await testConsole.owner.get('/log?unknown=1')).status, 422)
})

test('Text from callers is never run: not as markup in a response, not as a formula in a CSV file', async () => {
  const canary = '=HYPERLINK("https://evil.example?x=1"),<script>alert(1)</script>'
  const externalId = [canary, '$', '{jndi:ldap://x}'].join(' ')
  const enrolled = await runInPlayground('svc.enroll', { ...imageParams('Fay'), externalId })
  const { subjectId } = enrolled.envelope.data.results[0].value
  const project = `/projects/${testConsole.projectId}`
  const response = await testConsole.owner.get(`${project}/subjects/${subjectId}`)
  assert.equal(response.body.externalId, externalId)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/u)
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(response.headers.get('access-control-allow-origin'), null)
  assert.match(response.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/u)
  assertOk(
    await send('DELETE', `${project}/subjects/${subjectId}`, { confirm: subjectId.slice(0, 8) }),
  )
  const csv = assertOk(await testConsole.owner.get(`/deletions.csv?subjectId=${subjectId}`))
  assert.match(csv.headers.get('content-type') ?? '', /^text\/csv/u)
  assert.ok(csv.text.includes(`"'=HYPERLINK(""https`), csv.text)
  assert.equal(
    csv.text.split('\r\n')[0],
    'deletionId,subjectId,tenantId,groups,externalId,embeddingCount,deletedAtUtc,projects',
  )
})

test('A CSV file contains the complete list, with negative amounts as numbers', async () => {
  const { projectId } = testConsole
  assertOk(await send('POST', '/money/allocate', { projectId, amountMicros: '-1' }))
  const csv = assertOk(await testConsole.owner.get('/money/ledger.csv?kind=allocate'))
  const { items } = await get('/money/ledger?kind=allocate&limit=200')
  assert.equal(csv.text.trimEnd().split('\r\n').length, items.length + 1)
  const log = assertOk(await testConsole.owner.get('/log.csv'))
  assert.match(log.text, /^callId,atUtc,keyId/u)
  assert.ok(!log.text.includes('base64'))
})

test('Switching the gallery mode requires the statement of its preview', async () => {
  const created = assertOk(
    await send('POST', '/projects', { name: 'switched', galleryMode: 'isolated' }),
  ).body
  const path = `/projects/${created.projectId}`
  const preview = await get(`${path}/gallery-mode-preview`)
  const withoutStatement = await send('PATCH', path, { galleryMode: 'shared' })
  assert.equal(withoutStatement.status, 422)
  assert.equal(withoutStatement.body.problems[0].path, 'body.statement')
  const { statement } = preview
  const changed = assertOk(await send('PATCH', path, { galleryMode: 'shared', statement })).body
  assert.equal(changed.galleryMode, 'shared')
  assert.equal((await send('PATCH', path, { switches: { none: true } })).status, 422)
  const switched = { gender: false, storeCrops: true }
  assertOk(await send('PATCH', path, { switches: switched }))
  assert.deepEqual((await get(path)).switches, { ...defaultSwitches, ...switched })
  assert.equal((await send('PATCH', path, { name: 'default' })).status, 409)
  const limited = assertOk(await send('PATCH', path, { sustainedPerS: 5, burst: null })).body
  assert.deepEqual([limited.sustainedPerS, limited.isBurstDefault], [5, true])
})

test('A new key works until it is revoked, and later responses never contain it', async () => {
  const settings = { projectId: testConsole.projectId, name: 'door', permissions: ['svc.detect'] }
  const { key, keyId } = assertOk(await send('POST', '/keys', settings)).body
  const client = testConsole.gallery.withKey(key)
  assert.equal((await client.call('svc.detect', imageParams('Gus'))).body.ok, true)
  assert.equal(await client.code('svc.enroll', imageParams('Gus')), 'FORBIDDEN')
  const responses =
    JSON.stringify(await get('/keys')) + JSON.stringify(await get('/audit?limit=200'))
  assert.ok(!responses.includes(key.slice(10, 40)))
  assertOk(await send('POST', `/keys/${keyId}/revoke`, { confirm: 'door' }))
  assert.equal((await client.call('svc.detect', imageParams('Gus'))).status, 401)
  const expired = { ...settings, expiresAtUtc: '2020-01-01T00:00:00Z' }
  assert.equal((await send('POST', '/keys', expired)).status, 422)
})

test('A transfer above the balance is rejected, and so is a fractional amount', async () => {
  const { projectId } = testConsole
  const aboveBalance = { projectId, amountMicros: '99999999999999' }
  assert.equal((await send('POST', '/money/allocate', aboveBalance)).status, 409)
  assert.equal((await send('POST', '/money/top-up', { amountMicros: '1.5' })).status, 422)
  assert.equal((await send('POST', '/money/top-up', { amountMicros: '-5' })).status, 409)
  const money = await get('/money')
  const { spentMicros, allocatedMicros, balanceMicros } = money.projects[0]
  assert.equal(BigInt(spentMicros), BigInt(allocatedMicros) - BigInt(balanceMicros))
})

test('The read-only routes return valid responses', async () => {
  for (const path of ['/actions', '/errors', '/permissions', '/models', '/system', '/users'])
    assertOk(await testConsole.owner.get(path))
  const { store } = await get('/system')
  assert.ok(store.bytes > 0 && !store.place.includes('@'))
  assert.match(store.version, isOnPostgres() ? /^PostgreSQL \d/u : /^SQLite 3/u)
  const all = (await get('/actions')) as { name: string; imagesMin: number; imagesMax: number }[]
  const bounds = all.map(({ name, imagesMin, imagesMax }) => [name, imagesMin, imagesMax])
  assert.deepEqual(
    bounds.filter(([name]) => /verify|identify|updateSubject|deleteSubject/u.test(String(name))),
    [
      ['svc.deleteSubject', 0, 0],
      ['svc.identify', 0, 10],
      ['svc.updateSubject', 0, 1],
      ['svc.verify', 1, 10],
    ],
  )
  for (const days of [1, 7, 30]) {
    const overview = await get(`/overview?days=${days}`)
    assert.equal(overview.series.length, days === 1 ? 24 : days)
  }
  const groups = await get(`/projects/${testConsole.projectId}/groups?q=zz`)
  assert.deepEqual(groups, { items: [], nextCursor: null, previousCursor: null })
})

const image = (person: string) => (imageParams(person) as { images: object[] }).images[0] ?? {}
