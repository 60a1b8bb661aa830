import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSetupLink } from '../../../src/console/auth/setup.ts'
import { validPassword, assertOk, startConsole } from '../../support/console/test-console.ts'

const minuteMs = 60_000

test('A setup link sets the password of the owner only once', async () => {
  await using testConsole = await startConsole()
  const { owner, gallery } = testConsole
  assert.equal((await owner.get('/session')).body.state, 'signedIn')
  const client = testConsole.newClient()
  assert.equal((await client.get('/session')).body.state, 'signedOut')
  const useLink = (token: string) =>
    client.send('POST', '/setup', { token, name: 'Eve', password: validPassword })
  assert.equal((await useLink(testConsole.usedSetupToken)).status, 404)
  assert.equal((await useLink('x'.repeat(43))).status, 404)
  const createLink = () =>
    gallery.database.store.write((tx) => createSetupLink(tx, null, Date.now()))
  const useBoth = async (tokens: readonly string[]) =>
    (await Promise.all(tokens.map(useLink))).map(({ status }) => status).sort((a, b) => a - b)
  // Of two links created in parallel only the later one is valid, and only once.
  assert.deepEqual(await useBoth(await Promise.all([createLink(), createLink()])), [200, 404])
  const [olderToken, newerToken] = [await createLink(), await createLink()]
  assert.equal((await useLink(olderToken)).status, 404)
  assert.deepEqual(await useBoth([newerToken, newerToken]), [200, 404])
})

test('An invite link expires after 24 hours, and its user cannot sign in without a password', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({ clock: () => nowMs })
  const invited = assertOk(
    await testConsole.owner.send('POST', '/users', { name: 'Ann', role: 'viewer' }),
  )
  const token = new URL(invited.body.inviteLink).hash.slice(1)
  nowMs += 24 * 60 * minuteMs
  const late = testConsole.newClient()
  const body = { token, password: validPassword }
  assert.equal((await late.send('POST', '/setup', body)).status, 404)
  const signIn = { name: 'Ann', password: validPassword }
  assert.equal((await late.send('POST', '/sign-in', signIn)).status, 401)
})

test('A session ends after 30 idle minutes, after 12 hours and on sign-out', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({ clock: () => nowMs })
  const { owner } = testConsole
  for (let step = 0; step < 5; step++) {
    nowMs += 29 * minuteMs
    assert.equal((await owner.get('/projects')).status, 200)
  }
  nowMs += 30 * minuteMs
  assert.equal((await owner.get('/projects')).status, 401)
  const signIn = { name: 'olga', password: validPassword }
  assertOk(await owner.send('POST', '/sign-in', signIn))
  for (let step = 0; step < 24; step++) {
    nowMs += 29 * minuteMs
    assert.equal((await owner.get('/projects')).status, 200)
  }
  nowMs += 25 * minuteMs
  assert.equal((await owner.get('/projects')).status, 401)
  assertOk(await owner.send('POST', '/sign-in', signIn))
  const copiedCookie = owner.cookie()
  assertOk(await owner.send('POST', '/sign-out'))
  assert.equal((await owner.raw('GET', '/projects', { cookie: copiedCookie })).status, 401)
})

test('Each sign-in sets a new cookie, restricted to this host and hidden from scripts and other sites', async () => {
  await using testConsole = await startConsole()
  const guest = testConsole.newClient()
  const plantedCookie = `__Host-facegate=${'A'.repeat(43)}`
  const signIn = { name: 'Olga', password: validPassword }
  const headers = { origin: testConsole.url, cookie: plantedCookie }
  const response = assertOk(await guest.raw('POST', '/sign-in', headers, signIn))
  const setCookie = response.headers.get('set-cookie') ?? ''
  assert.match(
    setCookie,
    /^__Host-facegate=[\w-]{43}; Max-Age=43200; Path=\/; Secure; HttpOnly; SameSite=Strict$/u,
  )
  assert.ok(!setCookie.includes(plantedCookie))
  const first = guest.cookie()
  assertOk(await guest.raw('POST', '/sign-in', { origin: testConsole.url, cookie: first }, signIn))
  assert.notEqual(guest.cookie(), first)
  assert.equal((await guest.raw('GET', '/projects', { cookie: first })).status, 401)
})

test('The origin of a write is compared in the spelling of browsers', async () => {
  await using testConsole = await startConsole({ environment: { TRUST_PROXY: '1' } })
  const { owner } = testConsole
  const headers = {
    cookie: owner.cookie(),
    'x-csrf-token': owner.csrfToken(),
    'x-forwarded-proto': 'https',
  }
  const spellings = {
    '[::FFFF:127.0.0.1]:8080': 'https://[::ffff:7f00:1]:8080',
    '[FD00:0:0::1]': 'https://[fd00::1]',
    'Faces.Example.org:443': 'https://faces.example.org',
  }
  for (const [host, origin] of Object.entries(spellings)) {
    const sent = { ...headers, 'x-forwarded-host': host, origin }
    assertOk(await owner.raw('POST', '/sessions/sign-out-elsewhere', sent))
    const other = { ...sent, origin: 'https://faces.example.com' }
    assert.equal((await owner.raw('POST', '/sessions/sign-out-elsewhere', other)).status, 403)
  }
})

test('A write from another site, or without the CSRF token of its session, is rejected', async () => {
  await using testConsole = await startConsole()
  const { owner, url } = testConsole
  const cookie = owner.cookie()
  const token = owner.csrfToken()
  const other = await testConsole.inviteMember('admin')
  const body = { name: 'forged', galleryMode: 'isolated' }
  const rejected: Record<string, string>[] = [
    { cookie, 'x-csrf-token': token },
    { cookie, 'x-csrf-token': token, origin: 'https://evil.example' },
    { cookie, 'x-csrf-token': token, origin: url, 'sec-fetch-site': 'cross-site' },
    { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'same-site' },
    { cookie, 'x-csrf-token': token, origin: 'null' },
    { cookie, origin: url },
    { cookie, origin: url, 'x-csrf-token': other.csrfToken() },
  ]
  for (const headers of rejected) {
    const response = await owner.raw('POST', '/projects', headers, body)
    assert.equal(response.status, 403, JSON.stringify(headers))
  }
  assert.equal((await owner.get('/projects')).body.items.length, 1)
  const sameOrigin = { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'same-origin' }
  assertOk(await owner.raw('POST', '/projects', sameOrigin, body))
})

test('The console rejects API keys, and the API rejects console sessions', async () => {
  await using testConsole = await startConsole()
  const { owner, url, gallery } = testConsole
  const key = { 'x-api-key': gallery.key, origin: url }
  assert.equal((await owner.raw('GET', '/projects', key)).status, 401)
  assert.equal((await owner.raw('POST', '/projects', key, { name: 'x' })).status, 401)
  const cookie = owner.cookie()
  const response = await fetch(`${url}/v1/face/execute`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', 'x-api-key': cookie },
    body: JSON.stringify({ action: 'svc.detect', params: {} }),
  })
  assert.equal(response.status, 401)
  assert.equal((await fetch(`${url}/v1/subjects`, { headers: { cookie } })).status, 401)
})

test('Sign-in from another machine requires https', async () => {
  await using testConsole = await startConsole({ environment: { TRUST_PROXY: '1' } })
  const guest = testConsole.newClient()
  const signIn = { name: 'Olga', password: validPassword }
  const headersFor = (proto: string) => ({
    'x-forwarded-host': 'faces.example.org',
    'x-forwarded-proto': proto,
    origin: `${proto}://faces.example.org`,
  })
  const plain = await guest.raw('POST', '/sign-in', headersFor('http'), signIn)
  assert.equal(plain.status, 403)
  assert.match(plain.body.detail, /https/u)
  assertOk(await guest.raw('POST', '/sign-in', headersFor('https'), signIn))
})

test('A new password ends the other sessions of its user', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const other = testConsole.newClient()
  assertOk(await other.send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
  const newPassword = 'another long password'
  const wrong = await owner.send('POST', '/password', { current: 'no', next: newPassword })
  assert.equal(wrong.status, 401)
  const short = await owner.send('POST', '/password', { current: validPassword, next: 'short' })
  assert.equal(short.status, 422)
  assert.equal(short.body.problems[0].path, 'body.next')
  assertOk(await owner.send('POST', '/password', { current: validPassword, next: newPassword }))
  assert.equal((await owner.get('/projects')).status, 200)
  assert.equal((await other.get('/projects')).status, 401)
})

test('Disabling a user ends the sessions of the user and prevents sign-in', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const viewer = await testConsole.inviteMember('viewer')
  const { userId } = (await viewer.get('/session')).body.user
  assertOk(await owner.send('PATCH', `/users/${userId}`, { disabled: true }))
  assert.equal((await viewer.get('/projects')).status, 401)
  const signIn = { name: 'viewer 1', password: validPassword }
  assert.equal((await viewer.send('POST', '/sign-in', signIn)).status, 401)
  const self = (await owner.get('/session')).body.user.userId
  assert.equal((await owner.send('PATCH', `/users/${self}`, { role: 'viewer' })).status, 409)
})

test('A disabled user stays disabled: old and new links do not enable the user', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const invite = { name: 'Ann', role: 'viewer' }
  const invited = assertOk(await owner.send('POST', '/users', invite)).body
  const tokenOf = (link: string) => new URL(link).hash.slice(1)
  const guest = testConsole.newClient()
  const useLink = (token: string, name?: string) =>
    guest.send('POST', '/setup', { token, password: validPassword, ...(name && { name }) })
  const { userId } = invited.user
  assertOk(await owner.send('PATCH', `/users/${userId}`, { disabled: true }))
  assert.equal((await useLink(tokenOf(invited.inviteLink))).status, 404)
  assert.equal((await owner.send('POST', `/users/${userId}/invite`)).status, 409)
  const ownerToken = await testConsole.gallery.database.store.write((tx) =>
    createSetupLink(tx, null, Date.now()),
  )
  assert.equal((await useLink(ownerToken, 'Ann')).status, 409)
  const signIn = { name: 'Ann', password: validPassword }
  assert.equal((await guest.send('POST', '/sign-in', signIn)).status, 401)
  // The rejected owner link is still unused.
  assertOk(await useLink(ownerToken, 'Olga'))

  // The guest is now signed in as Olga.
  assertOk(await guest.send('PATCH', `/users/${userId}`, { disabled: false }))
  assert.equal((await useLink(tokenOf(invited.inviteLink))).status, 404)
})
