import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { rotateKeys } from '../../../src/gallery/keys/rotate-keys.ts'
import { authenticatorCode, timeStepMs } from '../../support/console/browser/authenticator.ts'
import { createInterruptedStore } from '../../support/console/interrupt-write.ts'
import {
  assertOk,
  startConsole,
  validPassword,
  type ConsoleClient,
} from '../../support/console/test-console.ts'

async function enable(client: ConsoleClient, nowMs: number) {
  const { body } = assertOk(
    await client.send('POST', '/second-factor', { password: validPassword }),
  )
  const code = authenticatorCode(body.secret, nowMs)
  const confirmed = assertOk(await client.send('POST', '/second-factor/confirm', { code }))
  return { secret: String(body.secret), recoveryCodes: confirmed.body.recoveryCodes as string[] }
}

test('With a second factor, sign-in requires a code of the app, and each code is valid once', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({ clock: () => nowMs })
  const { owner } = testConsole
  const wrong = await owner.send('POST', '/second-factor', { password: 'wrong' })
  assert.equal(wrong.status, 401)
  // A secret that was not confirmed is not required.
  assertOk(await owner.send('POST', '/second-factor', { password: validPassword }))
  const signIn = (code?: string) =>
    testConsole.newClient().send('POST', '/sign-in', {
      name: 'Olga',
      password: validPassword,
      ...(code !== undefined && { code }),
    })
  assertOk(await signIn())
  assert.equal((await owner.send('POST', '/second-factor/confirm', { code: '000000' })).status, 422)
  const { secret, recoveryCodes } = await enable(owner, nowMs)
  assert.deepEqual((await owner.get('/second-factor')).body, {
    isEnabled: true,
    recoveryCodesLeft: 10,
  })
  assert.equal(new Set(recoveryCodes).size, 10)

  const missing = await signIn()
  assert.equal(missing.status, 401)
  assert.equal(missing.headers.get('x-second-factor'), 'required')
  assert.equal(missing.headers.get('set-cookie'), null)
  assert.match(missing.body.detail, /authenticator app/u)
  // The code that confirmed the secret is used.
  assert.equal((await signIn(authenticatorCode(secret, nowMs))).status, 401)
  nowMs += timeStepMs
  const code = authenticatorCode(secret, nowMs)
  const parallel = await Promise.all([signIn(code), signIn(`${code.slice(0, 3)} ${code.slice(3)}`)])
  assert.deepEqual(
    parallel.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 401],
  )

  // A wrong password is rejected before the code, with the text of an unknown user.
  const guessed = await testConsole
    .newClient()
    .send('POST', '/sign-in', { name: 'Olga', password: 'wrong', code: '123456' })
  assert.equal(guessed.headers.get('x-second-factor'), null)
  const { items } = (await owner.get('/audit?auditAction=session.signInFailed')).body
  assert.deepEqual(items[1].detail, { name: 'Olga', secondFactor: true })

  // Each recovery code replaces the app once.
  const [recoveryCode = ''] = recoveryCodes
  assertOk(await signIn(recoveryCode.toUpperCase().replaceAll('-', ' ')))
  assert.equal((await signIn(recoveryCode)).status, 401)
  assert.equal((await owner.get('/second-factor')).body.recoveryCodesLeft, 9)
})

test('A sign-in without a code fails if the second factor was enabled during its check', async () => {
  const nowMs = Date.now()
  const { wrapStore, beforeNextWrite } = createInterruptedStore()
  await using testConsole = await startConsole({ clock: () => nowMs, wrapStore })
  const { owner } = testConsole
  beforeNextWrite(() => enable(owner, nowMs))
  const signIn = { name: 'Olga', password: validPassword, code: '000000' }
  const early = await testConsole.newClient().send('POST', '/sign-in', signIn)
  assert.equal(early.status, 401)
  assert.equal(early.headers.get('x-second-factor'), 'required')
  assert.equal(early.headers.get('set-cookie'), null)
})

test('Wrong codes are throttled like wrong passwords', async () => {
  const nowMs = Date.now()
  await using testConsole = await startConsole({ clock: () => nowMs })
  await enable(testConsole.owner, nowMs)
  const signIn = (code?: string) =>
    testConsole
      .newClient()
      .send('POST', '/sign-in', { name: 'Olga', password: validPassword, ...(code && { code }) })
  for (let attempt = 0; attempt < 5; attempt++)
    assert.equal((await signIn('000000')).headers.get('x-second-factor'), 'required')
  const throttled = await signIn('000000')
  assert.equal(throttled.status, 429)
  assert.ok(Number(throttled.headers.get('retry-after')) >= 1)
})

test('Recovery codes are replaced, and the second factor is removed, with the password', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const password = validPassword
  assert.equal(
    (await owner.send('POST', '/second-factor/recovery-codes', { password })).status,
    409,
  )
  const { recoveryCodes } = await enable(owner, Date.now())
  assert.equal((await owner.send('POST', '/second-factor', { password })).status, 409)
  const renewed = assertOk(await owner.send('POST', '/second-factor/recovery-codes', { password }))
  const signIn = (code?: string) =>
    testConsole
      .newClient()
      .send('POST', '/sign-in', { name: 'Olga', password, ...(code && { code }) })
  assert.equal((await signIn(recoveryCodes[0])).status, 401)
  assertOk(await signIn(renewed.body.recoveryCodes[0]))
  const refused = await owner.send('POST', '/second-factor/remove', { password: 'wrong' })
  assert.equal(refused.status, 401)
  assertOk(await owner.send('POST', '/second-factor/remove', { password }))
  assertOk(await signIn())
})

test('An owner removes the second factor of another user, which ends the sessions of that user', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const admin = await testConsole.inviteMember('admin')
  await enable(admin, Date.now())
  const users = async () => (await owner.get('/users')).body.items
  const member = (await users()).find(({ role }: { role: string }) => role === 'admin')
  assert.equal(member.hasSecondFactor, true)
  const path = `/users/${member.userId}/second-factor/remove`
  assert.equal((await admin.send('POST', path)).status, 403)
  assertOk(await owner.send('POST', path))
  assert.equal((await admin.get('/users')).status, 401)
  const credentials = { name: member.name, password: validPassword }
  assertOk(await admin.send('POST', '/sign-in', credentials))
  assertOk(await owner.send('POST', `/users/${member.userId}/sign-out`))
  assert.equal((await admin.get('/users')).status, 401)
  const own = (await owner.get('/session')).body.user.userId
  assert.equal((await owner.send('POST', `/users/${own}/second-factor/remove`)).status, 409)
})

test('The secret is encrypted with the master key, and its rotation keeps the second factor', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({ clock: () => nowMs })
  const { owner, gallery } = testConsole
  const { secret } = await enable(owner, nowMs)
  const { store } = gallery.database
  const before = await store.db.selectFrom('secondFactors').selectAll().executeTakeFirstOrThrow()
  assert.ok(!Buffer.from(before.wrapped).toString('latin1').includes(secret))
  const masterKeyFile = path.join(gallery.dataDir, 'master.key')
  await rotateKeys({ store, masterKeyFile, nowMs: () => nowMs })
  const after = await store.db.selectFrom('secondFactors').selectAll().executeTakeFirstOrThrow()
  assert.notEqual(after.masterKeyId, before.masterKeyId)
  nowMs += timeStepMs
  const credentials = {
    name: 'Olga',
    password: validPassword,
    code: authenticatorCode(secret, nowMs),
  }
  assertOk(await testConsole.newClient().send('POST', '/sign-in', credentials))
})
