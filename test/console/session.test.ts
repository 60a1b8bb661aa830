import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSetupLink } from '../../src/console/auth/setup.ts'
import { validPassword, assertOk, startConsole } from '../support/console/test-console.ts'

const minuteMs = 60_000

test('the one-time link sets the owner’s password once, and never again', async () => {
  await using desk = await startConsole()
  const { newClient: visitor, owner, gallery } = desk
  assert.equal((await owner.get('/session')).body.state, 'signedIn')
  const again = visitor()
  assert.equal((await again.get('/session')).body.state, 'signedOut')
  const use = (token: string) =>
    again.send('POST', '/setup', { token, name: 'Eve', password: validPassword })
  assert.equal((await use(desk.usedSetupToken)).status, 404)
  assert.equal((await use('x'.repeat(43))).status, 404)
  const make = () => gallery.database.store.write((tx) => createSetupLink(tx, null, Date.now()))
  const useBoth = async (tokens: readonly string[]) =>
    (await Promise.all(tokens.map(use))).map(({ status }) => status).sort((a, b) => a - b)
  // Of two that are made at once only the later opens, and it only once.
  assert.deepEqual(await useBoth(await Promise.all([make(), make()])), [200, 404])
  const [old, fresh] = [await make(), await make()]
  assert.equal((await use(old)).status, 404)
  assert.deepEqual(await useBoth([fresh, fresh]), [200, 404])
})

test('before the first owner the console waits to be set up; a link is over after a day', async () => {
  let nowMs = Date.now()
  await using desk = await startConsole({ clock: () => nowMs })
  const invited = assertOk(await desk.owner.send('POST', '/users', { name: 'Ann', role: 'viewer' }))
  const token = new URL(invited.body.inviteLink).hash.slice(1)
  nowMs += 24 * 60 * minuteMs
  const late = desk.newClient()
  const body = { token, password: validPassword }
  assert.equal((await late.send('POST', '/setup', body)).status, 404)
  const signIn = { name: 'Ann', password: validPassword }
  assert.equal((await late.send('POST', '/sign-in', signIn)).status, 401)
})

test('a session ends after 30 idle minutes and after 12 hours; signing out ends it at the server', async () => {
  let nowMs = Date.now()
  await using desk = await startConsole({ clock: () => nowMs })
  const { owner } = desk
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
  const stolen = owner.cookie()
  assertOk(await owner.send('POST', '/sign-out'))
  assert.equal((await owner.raw('GET', '/projects', { cookie: stolen })).status, 401)
})

test('the cookie is for this host, for no script, for no other site, and new at each sign-in', async () => {
  await using desk = await startConsole()
  const guest = desk.newClient()
  const planted = `__Host-facegate=${'A'.repeat(43)}`
  const signIn = { name: 'Olga', password: validPassword }
  const origin = { origin: desk.url, cookie: planted }
  const answer = assertOk(await guest.raw('POST', '/sign-in', origin, signIn))
  const set = answer.headers.get('set-cookie') ?? ''
  assert.match(
    set,
    /^__Host-facegate=[\w-]{43}; Max-Age=43200; Path=\/; Secure; HttpOnly; SameSite=Strict$/u,
  )
  assert.ok(!set.includes(planted))
  const first = guest.cookie()
  assertOk(await guest.raw('POST', '/sign-in', { origin: desk.url, cookie: first }, signIn))
  assert.notEqual(guest.cookie(), first)
  assert.equal((await guest.raw('GET', '/projects', { cookie: first })).status, 401)
})

test('a write from another site, without a token or with another session’s, changes nothing', async () => {
  await using desk = await startConsole()
  const { owner, url } = desk
  const cookie = owner.cookie()
  const token = owner.csrfToken()
  const other = await desk.inviteMember('admin')
  const body = { name: 'made by a stranger', galleryMode: 'isolated' }
  const refused: Record<string, string>[] = [
    { cookie, 'x-csrf-token': token },
    { cookie, 'x-csrf-token': token, origin: 'https://evil.example' },
    { cookie, 'x-csrf-token': token, origin: url, 'sec-fetch-site': 'cross-site' },
    { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'same-site' },
    { cookie, 'x-csrf-token': token, origin: 'null' },
    { cookie, origin: url },
    { cookie, origin: url, 'x-csrf-token': other.csrfToken() },
  ]
  for (const headers of refused) {
    const answer = await owner.raw('POST', '/projects', headers, body)
    assert.equal(answer.status, 403, JSON.stringify(headers))
  }
  assert.equal((await owner.get('/projects')).body.items.length, 1)
  const fetched = { cookie, 'x-csrf-token': token, 'sec-fetch-site': 'same-origin' }
  assertOk(await owner.raw('POST', '/projects', fetched, body))
})

test('T53: an API key opens no route of the console, a session none of the API', async () => {
  await using desk = await startConsole()
  const { owner, url, gallery } = desk
  const key = { 'x-api-key': gallery.key, origin: url }
  assert.equal((await owner.raw('GET', '/projects', key)).status, 401)
  assert.equal((await owner.raw('POST', '/projects', key, { name: 'x' })).status, 401)
  const cookie = owner.cookie()
  const answer = await fetch(`${url}/v1/face/execute`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', 'x-api-key': cookie },
    body: JSON.stringify({ action: 'svc.detect', params: {} }),
  })
  assert.equal(answer.status, 401)
  assert.equal((await fetch(`${url}/v1/subjects`, { headers: { cookie } })).status, 401)
})

test('T58: a thousand guesses from everywhere get one answer, and keep nobody out for ever', async () => {
  let nowMs = Date.now()
  await using desk = await startConsole({
    clock: () => nowMs,
    environment: { TRUST_PROXY: '1', AUTH_FAILURES_BURST: '100000' },
  })
  const { newClient: visitor, url } = desk
  const guest = visitor()
  const guess = (name: string, password: string, ip: string) =>
    guest.raw('POST', '/sign-in', { origin: url, 'x-forwarded-for': ip }, { name, password })
  const known = await guess('Olga', 'wrong', '10.0.0.1')
  const unknown = await guess('Nobody', 'wrong', '10.0.0.2')
  assert.equal(known.status, 401)
  assert.deepEqual(known.body, unknown.body)
  const statuses: Awaited<ReturnType<typeof guess>>[] = []
  for (let round = 0; round < 4; round++) {
    const some = Array.from({ length: 250 }, (_, at) =>
      guess('Olga', `guess ${at}`, `10.1.${at % 50}.1`),
    )
    statuses.push(...(await Promise.all(some)))
  }
  const looked = statuses.filter(({ status }) => status === 401).length
  assert.ok(looked <= 50, `${looked} guesses were looked at`)
  assert.ok(statuses.every(({ status }) => [401, 429, 503].includes(status)))
  const late = statuses.find(({ status }) => status === 429)
  assert.ok(Number(late?.headers.get('retry-after')) >= 1)
  // Olga set her password from this machine: where she was before, she comes in at once.
  const own = { origin: url }
  const right = { name: 'Olga', password: validPassword }
  const answer = await guest.raw(
    'POST',
    '/sign-in',
    { ...own, 'x-forwarded-for': '127.0.0.1' },
    right,
  )
  assert.equal(answer.status, 200, answer.text)
  // From elsewhere she waits a quarter of an hour at most.
  const elsewhere = await guess('Olga', 'wrong', '10.1.7.1')
  nowMs += 15 * minuteMs
  assert.ok([401, 429].includes(elsewhere.status))
  assert.equal((await guess('Olga', validPassword, '10.1.7.1')).status, 200)
})

test('five wrong passwords of one address cost a wait that doubles', async () => {
  let nowMs = Date.now()
  await using desk = await startConsole({ clock: () => nowMs })
  const guest = desk.newClient()
  const guess = (password: string) =>
    guest.raw('POST', '/sign-in', { origin: desk.url }, { name: 'Olga', password })
  for (let at = 0; at < 5; at++) assert.equal((await guess('wrong')).status, 401)
  const waits: number[] = []
  for (let at = 0; at < 4; at++) {
    const refused = await guess(validPassword)
    assert.equal(refused.status, 429)
    const waitS = Number(refused.headers.get('retry-after'))
    waits.push(waitS)
    nowMs += waitS * 1000
    assert.equal((await guess('wrong')).status, 401)
  }
  assert.deepEqual(waits, [1, 2, 4, 8])
})

test('beyond this machine nobody signs in over plain http; behind a proxy with TLS they do', async () => {
  await using desk = await startConsole({ environment: { TRUST_PROXY: '1' } })
  const guest = desk.newClient()
  const signIn = { name: 'Olga', password: validPassword }
  const at = (proto: string) => ({
    'x-forwarded-host': 'faces.example.org',
    'x-forwarded-proto': proto,
    origin: `${proto}://faces.example.org`,
  })
  const plain = await guest.raw('POST', '/sign-in', at('http'), signIn)
  assert.equal(plain.status, 403)
  assert.match(plain.body.detail, /https/u)
  assertOk(await guest.raw('POST', '/sign-in', at('https'), signIn))
})

test('without TRUST_PROXY, what a client says of its address is not believed', async () => {
  await using desk = await startConsole()
  const guest = desk.newClient()
  const guess = (ip: string) =>
    guest.raw(
      'POST',
      '/sign-in',
      { origin: desk.url, 'x-forwarded-for': ip },
      { name: 'Olga', password: 'wrong' },
    )
  for (let at = 0; at < 5; at++) assert.equal((await guess(`10.0.0.${at}`)).status, 401)
  assert.equal((await guess('10.0.0.9')).status, 429)
})

test('a new password ends every other session of its user', async () => {
  await using desk = await startConsole()
  const { owner } = desk
  const other = desk.newClient()
  assertOk(await other.send('POST', '/sign-in', { name: 'Olga', password: validPassword }))
  const next = 'another long password'
  const wrong = await owner.send('POST', '/password', { current: 'no', next })
  assert.equal(wrong.status, 401)
  const short = await owner.send('POST', '/password', { current: validPassword, next: 'short' })
  assert.equal(short.status, 422)
  assert.equal(short.body.problems[0].path, 'body.next')
  assertOk(await owner.send('POST', '/password', { current: validPassword, next }))
  assert.equal((await owner.get('/projects')).status, 200)
  assert.equal((await other.get('/projects')).status, 401)
})

test('a user who was disabled is out at once, and cannot come back', async () => {
  await using desk = await startConsole()
  const { owner } = desk
  const viewer = await desk.inviteMember('viewer')
  const { userId } = (await viewer.get('/session')).body.user
  assertOk(await owner.send('PATCH', `/users/${userId}`, { disabled: true }))
  assert.equal((await viewer.get('/projects')).status, 401)
  const signIn = { name: 'viewer 1', password: validPassword }
  assert.equal((await viewer.send('POST', '/sign-in', signIn)).status, 401)
  const self = (await owner.get('/session')).body.user.userId
  assert.equal((await owner.send('PATCH', `/users/${self}`, { role: 'viewer' })).status, 409)
})
