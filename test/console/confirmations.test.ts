import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sweepIntervalMs } from '../../src/lib/limits/sweep-limits.ts'
import { microsMax } from '../../src/lib/money.ts'
import { topUpConfirmationMicros } from '../../src/lib/limits/money-limits.ts'
import { createAccount, createProject } from '../../src/store/tenancy/projects.ts'
import { imageParams } from '../support/gallery/test-gallery.ts'
import {
  assertOk,
  startConsole,
  validPassword,
  type TestConsole,
} from '../support/console/test-console.ts'

const dayMs = 86_400_000
let nowMs = Date.parse('2026-05-01T12:00:00.000Z')

let testConsole: TestConsole
before(async () => {
  testConsole = await startConsole({ clock: () => nowMs })
})
after(() => testConsole[Symbol.asyncDispose]())

const send = (method: string, path: string, body?: unknown) =>
  testConsole.owner.send(method, path, body)
const get = async (path: string) => assertOk(await testConsole.owner.get(path)).body
const project = () => `/projects/${testConsole.projectId}`

async function enroll(name: string, projectId = testConsole.projectId) {
  const call = { action: 'svc.enroll', params: { ...imageParams(name), groups: ['crew'] } }
  const { body } = assertOk(await send('POST', '/playground', { projectId, call }))
  assert.equal(body.envelope.ok, true, JSON.stringify(body))
}

test('Switching crops off requires the number of crops that it deletes', async () => {
  const other = assertOk(await send('POST', '/projects', { name: 'b', galleryMode: 'isolated' }))
  for (const path of [project(), `/projects/${other.body.projectId}`])
    assertOk(await send('PATCH', path, { switches: { storeCrops: true, billing: false } }))
  await enroll('Ada')
  await enroll('Bob')
  await enroll('Cleo', other.body.projectId)
  const { crops } = await get(`${project()}/losses`)
  assert.deepEqual(crops, { total: 2, isCapped: false }, 'only the crops of this project')
  const off = { switches: { storeCrops: false } }
  const unconfirmed = await send('PATCH', project(), off)
  assert.equal(unconfirmed.status, 409)
  assert.match(unconfirmed.body.detail, /would delete 2 stored crops, but 0 were confirmed/u)
  const stale = await send('PATCH', project(), { ...off, confirmedLosses: { crops: 1 } })
  assert.equal(stale.status, 409)
  assert.equal((await get(`${project()}/losses`)).crops.total, 2, 'nothing is deleted')
  const confirmed = { ...off, confirmedLosses: { crops: 2 } }
  assert.equal(assertOk(await send('PATCH', project(), confirmed)).body.switches.storeCrops, false)
  assert.equal((await get(`${project()}/losses`)).crops.total, 0)
  assert.equal((await get(`/projects/${other.body.projectId}/losses`)).crops.total, 1)
  assertOk(await send('PATCH', project(), off))
})

test('A shorter retention requires the number of subjects that its next run deletes', async () => {
  const enrolled = (await get(project())).subjects
  assertOk(await send('PATCH', project(), { retentionDays: 30 }))
  nowMs += 10 * dayMs
  const credentials = { name: 'Olga', password: validPassword }
  assertOk(await send('POST', '/sign-in', credentials))
  const { retention } = await get(`${project()}/losses?retentionDays=7`)
  assert.deepEqual(retention, {
    days: 7,
    previousDays: 30,
    beforeUtc: new Date(nowMs - 7 * dayMs).toISOString(),
    deleted: { total: enrolled, isCapped: false },
    intervalS: sweepIntervalMs / 1000,
  })
  const atEdge = await get(`${project()}/losses?retentionDays=10`)
  assert.equal(atEdge.retention.deleted.total, 0, 'exactly ten days are not exceeded')
  const shorter = { retentionDays: 7 }
  const unconfirmed = await send('PATCH', project(), shorter)
  assert.equal(unconfirmed.status, 409)
  assert.match(unconfirmed.body.detail, /would delete 2 subjects, but 0 were confirmed/u)
  assert.equal((await get(project())).retentionDays, 30)
  assertOk(await send('PATCH', project(), { retentionDays: 10 }))
  assertOk(await send('PATCH', project(), { ...shorter, confirmedLosses: { subjects: enrolled } }))
  assert.equal((await get(project())).subjects, enrolled, 'nothing is deleted before the run')
  assertOk(await send('PATCH', project(), { retentionDays: null }))
  const toDefault = await get(`${project()}/losses?retentionDays=default`)
  assert.equal(toDefault.retention.days, (await get(project())).retentionDays)
  for (const days of ['0', '36501', '-1', 'x', '1.5'])
    assert.equal(
      (await testConsole.owner.get(`${project()}/losses?retentionDays=${days}`)).status,
      422,
    )
})

test('An unusual threshold must be repeated, and its effect on the last 30 days is counted', async () => {
  const effect = async (threshold: string) =>
    get(`${project()}/threshold-decisions?threshold=${threshold}`)
  assertOk(await send('PATCH', project(), { switches: { billing: false } }))
  const before = await effect('0.8')
  const identify = async (name: string) =>
    assertOk(
      await send('POST', '/playground', {
        projectId: testConsole.projectId,
        call: { action: 'svc.identify', params: imageParams(name) },
      }),
    )
  await identify('Ada')
  await identify('Zoe')
  assert.deepEqual(await effect('0.8'), {
    ...before,
    calls: before.calls + 2,
    matches: before.matches + 1,
  })
  const low = await effect('0')
  assert.deepEqual([low.newMatches, low.lostMatches], [before.newMatches + 1, 0])
  const high = await effect('1')
  assert.equal(high.newMatches, 0)
  nowMs += 31 * dayMs
  assertOk(await send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
  assert.equal((await effect('0')).calls, 0, 'earlier calls are not counted')
  for (const threshold of ['-0.1', '1.0001', '1.4', 'x', '', '0.12345'])
    assert.equal(
      (await testConsole.owner.get(`${project()}/threshold-decisions?threshold=${threshold}`))
        .status,
      422,
      threshold,
    )
  for (const identifyThreshold of [0, 0.2, 0.6999, 0.97, 1]) {
    for (const confirmedThreshold of [undefined, 0.7]) {
      const refused = await send('PATCH', project(), { identifyThreshold, confirmedThreshold })
      assert.deepEqual(
        [refused.status, refused.body.problems[0]],
        [
          422,
          {
            path: 'body.confirmedThreshold',
            message: 'must repeat the threshold, because it is below 0.7 or at least 0.97',
          },
        ],
      )
    }
    assert.equal((await get(project())).identifyThreshold, null, 'nothing is saved')
  }
  for (const identifyThreshold of [0.7, 0.9699, null])
    assertOk(await send('PATCH', project(), { identifyThreshold }))
  const unusual = { identifyThreshold: 0.2, confirmedThreshold: 0.2 }
  assert.equal(assertOk(await send('PATCH', project(), unusual)).body.identifyThreshold, 0.2)
  assertOk(await send('PATCH', project(), { identifyThreshold: null }))
})

test('The losses of a project of another account are not found', async () => {
  const path = '/projects/00000000-0000-4000-8000-000000000000/losses'
  assert.equal((await testConsole.owner.get(path)).status, 404)
})

test('The names of projects of other accounts are free, so that they are not revealed', async () => {
  const { db } = testConsole.gallery.database.store
  const now = new Date()
  const accountId = await createAccount(db, 'other', now)
  const theirs = { accountId, name: 'theirs', galleryMode: 'isolated' } as const
  const { projectId } = await createProject(db, theirs, now)
  for (const name of ['theirs', projectId])
    assertOk(await send('POST', '/projects', { name, galleryMode: 'isolated' }))
  const again = await send('POST', '/projects', { name: 'theirs', galleryMode: 'isolated' })
  assert.equal(again.status, 409)
})

test('The deletion of a group is refused when it has grown since its subjects were counted', async () => {
  const path = `${project()}/groups/crew`
  const { count } = await get(path)
  await enroll('Dan')
  const stale = await send('DELETE', path, { confirm: 'crew', confirmedCount: count })
  assert.equal(stale.status, 409)
  assert.match(stale.body.detail, new RegExp(`has ${count + 1} subjects now, but ${count}`, 'u'))
  const confirmed = { confirm: 'crew', confirmedCount: count + 1 }
  assert.equal(assertOk(await send('DELETE', path, confirmed)).body.deletedCount, count + 1)
})

test('A top-up above the limit requires that its amount is repeated', async () => {
  const large = String(topUpConfirmationMicros + 1n)
  const limit = String(topUpConfirmationMicros)
  const { walletMicros, topUpConfirmationMicros: shown } = await get('/money')
  assert.equal(shown, limit)
  assertOk(await send('POST', '/money/top-up', { amountMicros: limit }))
  for (const confirmAmountMicros of [undefined, limit]) {
    const refused = await send('POST', '/money/top-up', {
      amountMicros: large,
      confirmAmountMicros,
    })
    assert.equal(refused.status, 422)
    assert.deepEqual(refused.body.problems, [
      {
        path: 'body.confirmAmountMicros',
        message: 'must repeat the amount, because it is more than 1\u202F000.00 USD',
      },
    ])
  }
  const confirmed = { amountMicros: large, confirmAmountMicros: large }
  const { body } = assertOk(await send('POST', '/money/top-up', confirmed))
  assert.equal(BigInt(body.walletMicros), BigInt(walletMicros) + 2n * topUpConfirmationMicros + 1n)
})

test('A top-up that is sent again with its request id adds its amount once', async () => {
  const { walletMicros } = await get('/money')
  const requestId = randomUUID()
  const body = { amountMicros: '1500000', requestId }
  const sent = await Promise.all(
    [body, body, body].map((one) => send('POST', '/money/top-up', one)),
  )
  for (const response of sent)
    assert.equal(BigInt(assertOk(response).body.walletMicros), BigInt(walletMicros) + 1_500_000n)
  const upper = { ...body, requestId: requestId.toUpperCase() }
  assertOk(await send('POST', '/money/top-up', upper))
  const other = await send('POST', '/money/top-up', { ...body, amountMicros: '1' })
  assert.equal(other.status, 409)
  assert.equal(
    other.body.detail,
    'This request has already added 1.50 USD. Open a new one to add more.',
  )
  assert.equal(BigInt((await get('/money')).walletMicros), BigInt(walletMicros) + 1_500_000n)
  assert.equal((await get('/money/verify')).ok, true)
})

test('Errors contain amounts in the currency, and never micro-units or ids of ledgers', async () => {
  const { projectId } = testConsole
  const above = { projectId, amountMicros: '99999999999990000' }
  const shortage = await send('POST', '/money/allocate', above)
  assert.equal(shortage.status, 409)
  assert.equal(
    shortage.body.detail,
    'The wallet has less than 99\u202F999\u202F999\u202F999.99 USD. Top up the wallet, or enter a smaller amount.',
  )
  const back = await send('POST', '/money/allocate', { projectId, amountMicros: '-99000000000000' })
  assert.equal(
    back.body.detail,
    'The budget has less than 99\u202F000\u202F000.00 USD that is not reserved for running calls. Enter a smaller amount.',
  )
  const negative = await send('POST', '/money/top-up', { amountMicros: '-5' })
  assert.match(
    negative.body.detail,
    /^The amount must be more than 0 and at most [\d\u202F.]+ USD\.$/u,
  )
})

test('A name that is in use is a problem of the field name', async () => {
  const again = await send('POST', '/projects', { name: 'b', galleryMode: 'isolated' })
  assert.deepEqual([again.status, again.body.problems[0].path], [409, 'body.name'])
  const renamed = await send('PATCH', project(), { name: 'b' })
  assert.deepEqual([renamed.status, renamed.body.problems[0].path], [409, 'body.name'])
  const user = await send('POST', '/users', { name: 'olga', role: 'viewer' })
  assert.deepEqual([user.status, user.body.problems[0].path], [409, 'body.name'])
})

test('The open sessions of a user are counted, and a request without a session is marked', async () => {
  const member = await testConsole.inviteMember('viewer')
  const { userId } = (await member.get('/session')).body.user
  assert.deepEqual(await get(`/users/${userId}/open-sessions`), { count: 1 })
  assertOk(await send('PATCH', `/users/${userId}`, { disabled: true }))
  assert.deepEqual(await get(`/users/${userId}/open-sessions`), { count: 0 })
  const refused = await member.get('/projects')
  assert.deepEqual([refused.status, refused.headers.get('x-session')], [401, 'required'])
  const credentials = { name: 'Olga', password: 'wrong password' }
  const wrong = await testConsole.newClient().send('POST', '/sign-in', credentials)
  assert.deepEqual([wrong.status, wrong.headers.get('x-session')], [401, null])
})

test('A write without parameters refuses a query and a body, and changes nothing', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const member = await testConsole.inviteMember('viewer')
  const { sessionId } = (await member.get('/sessions')).body.items[0]
  assert.equal((await member.send('DELETE', `/sessions/${sessionId}`, {})).status, 422)
  assert.equal((await member.send('DELETE', `/sessions/${sessionId}?all=true`)).status, 422)
  const { userId } = (await member.get('/session')).body.user
  const path = `/users/${userId}/sign-out`
  assert.equal((await owner.send('POST', path, { dryRun: true })).status, 422)
  assert.equal((await member.get('/sessions')).status, 200)
})

test('The largest amount can be topped up, allocated and read', async () => {
  await using testConsole = await startConsole()
  const { owner, projectId } = testConsole
  const { walletMicros } = assertOk(await owner.get('/money')).body
  const amountMicros = String(microsMax - BigInt(walletMicros))
  const topUp = { amountMicros, confirmAmountMicros: amountMicros }
  const { body } = assertOk(await owner.send('POST', '/money/top-up', topUp))
  assert.equal(body.walletMicros, String(microsMax))
  const { budgetMicros } = assertOk(await owner.get(`/projects/${projectId}`)).body
  const allocated = { projectId, amountMicros: String(microsMax - BigInt(budgetMicros)) }
  assertOk(await owner.send('POST', '/money/allocate', allocated))
  for (const path of ['/money', '/money/ledger', '/overview', '/projects', '/log'])
    assertOk(await owner.get(path))
  for (const amount of [microsMax + 1n, -microsMax - 1n]) {
    const beyond = { projectId, amountMicros: String(amount) }
    const refused = await owner.send('POST', '/money/allocate', beyond)
    assert.equal(refused.status, 422)
    assert.match(refused.body.problems[0].message, /^must not be 0 and must be at most 9\u202F223/u)
  }
})
