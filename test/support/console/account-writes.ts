import assert from 'node:assert/strict'
import { authenticatorCode } from './browser/authenticator.ts'
import { assertOk, validPassword, type TestConsole } from './test-console.ts'

/** Makes every change of the second factor and of the sessions, for the owner and another user. */
export async function changeAccounts({
  owner,
  newClient,
  inviteMember,
}: TestConsole): Promise<void> {
  const password = validPassword
  const { secret } = assertOk(await owner.send('POST', '/second-factor', { password })).body
  const code = authenticatorCode(secret, Date.now())
  assertOk(await owner.send('POST', '/second-factor/confirm', { code }))
  assertOk(await owner.send('POST', '/second-factor/recovery-codes', { password }))
  assertOk(await owner.send('POST', '/second-factor/remove', { password }))
  const other = newClient()
  assertOk(await other.send('POST', '/sign-in', { name: 'Olga', password }))
  const { items } = (await other.get('/sessions')).body
  const current = items.find(({ isCurrent }: { isCurrent: boolean }) => isCurrent)
  assertOk(await owner.send('DELETE', `/sessions/${current.sessionId}`))
  assertOk(await owner.send('POST', '/sessions/sign-out-elsewhere'))
  const member = await inviteMember('viewer')
  const { userId } = (await member.get('/session')).body.user
  const sessions = assertOk(await owner.get(`/users/${userId}/sessions`)).body.items
  assert.equal(sessions.length, 1)
  assertOk(await owner.send('DELETE', `/users/${userId}/sessions/${sessions[0].sessionId}`))
  assert.equal((await member.get('/session')).body.user, undefined)
  assertOk(await owner.send('POST', `/users/${userId}/sign-out`))
  assertOk(await owner.send('POST', `/users/${userId}/second-factor/remove`))
}
