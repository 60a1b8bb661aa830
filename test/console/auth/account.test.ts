import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consoleLink } from '../../../src/cli/tenancy/commands.ts'
import { createSetupLink } from '../../../src/console/auth/setup.ts'
import { consoleRoutes } from '../../../src/console/routes.ts'
import { auditActions, describeAuditAction } from '../../../src/console/server/audit-actions.ts'
import { runLines } from '../../support/cli/run-json.ts'
import { assertOk, startConsole, validPassword } from '../../support/console/test-console.ts'

test('A password is neither short, nor common, nor contains the name of the user', async () => {
  await using testConsole = await startConsole()
  const { owner, gallery } = testConsole
  const change = (next: string) => owner.send('POST', '/password', { current: validPassword, next })
  const rejected: Readonly<Record<string, RegExp>> = {
    elevenchars: /at least 12 characters/u,
    password1234: /common password/u,
    'p@ssw0rd!2024': /common password/u,
    qwertyuiopas: /common password/u,
    aaaaaaaaaaaaaaaaaaaa: /common password/u,
    abcdefghijklmnop: /common password/u,
    [`${'a'.repeat(40)}Tr0ub4dor and three`]: /a repetition/u,
    'my name is olga and i am fine': /must not contain your name or a part of it/u,
  }
  for (const [next, rule] of Object.entries(rejected)) {
    const response = await change(next)
    assert.equal(response.status, 422, next)
    assert.match(response.body.problems[0].message, rule, next)
    assert.equal(response.body.problems[0].path, 'body.next')
  }
  assertOk(await change('Tr0ub4dor and three'.padEnd(256, 'a')))
  const token = await gallery.database.store.write((tx) => createSetupLink(tx, null, Date.now()))
  const useLink = (password: string) =>
    testConsole.newClient().send('POST', '/setup', { token, name: 'Margarete', password })
  const named = await useLink('hello Margarete hello')
  assert.equal(named.body.problems[0].path, 'body.password')
  assertOk(await useLink('several unrelated words'))

  const invite = { name: 'Zoë van Müllerheim-Öz', role: 'viewer' }
  const { inviteLink } = assertOk(await owner.send('POST', '/users', invite)).body
  const invited = (password: string) =>
    testConsole.newClient().send('POST', '/setup', {
      token: new URL(inviteLink).hash.slice(1),
      password,
    })
  for (const next of [
    'green MÜLLERHEIM lamp 77',
    'green mullerheim lamp 77',
    'lamp zoe carpet fly',
  ])
    assert.match((await invited(next)).text, /must not contain your name or a part of it/u, next)
  // A part of two letters occurs in too many good passwords.
  assertOk(await invited('frozen ladder pickle'))
})

test('A user lists the open sessions, ends one of them, and ends all others', async () => {
  let nowMs = Date.now()
  await using testConsole = await startConsole({ clock: () => nowMs })
  const { owner, url } = testConsole
  const signIn = async (userAgent: string) => {
    const client = testConsole.newClient()
    const headers = { origin: url, 'user-agent': userAgent }
    const credentials = { name: 'Olga', password: validPassword }
    assertOk(await client.raw('POST', '/sign-in', headers, credentials))
    return client
  }
  const phone = await signIn('Phone '.repeat(100))
  const tablet = await signIn('Tablet')
  const sessions = async () => (await owner.get('/sessions')).body.items
  const [listed] = [await sessions()]
  assert.equal(listed.length, 3)
  assert.deepEqual(listed.filter(({ isCurrent }: { isCurrent: boolean }) => isCurrent).length, 1)
  const phoneSession = listed.find(({ userAgent }: { userAgent: string }) =>
    userAgent.startsWith('Phone'),
  )
  assert.equal(phoneSession.userAgent.length, 256)
  assert.equal(phoneSession.ip, '127.0.0.1')
  assertOk(await owner.send('DELETE', `/sessions/${phoneSession.sessionId}`))
  assert.equal((await phone.get('/sessions')).status, 401)
  assert.equal((await owner.send('DELETE', `/sessions/${phoneSession.sessionId}`)).status, 404)
  // The session of another user cannot be ended.
  const admin = await testConsole.inviteMember('admin')
  const [adminSession] = (await admin.get('/sessions')).body.items
  assert.equal((await owner.send('DELETE', `/sessions/${adminSession.sessionId}`)).status, 404)
  assertOk(await owner.send('POST', '/sessions/sign-out-elsewhere'))
  assert.equal((await tablet.get('/sessions')).status, 401)
  assert.equal((await sessions()).length, 1)
  assert.equal((await admin.get('/sessions')).status, 200)

  // An expired session is not listed.
  await signIn('Old')
  nowMs += 29 * 60_000
  assert.equal((await owner.get('/projects')).status, 200)
  nowMs += 60_000
  assert.equal((await sessions()).length, 1)
})

test('A setup link removes the second factor of its user', async () => {
  await using testConsole = await startConsole()
  const { owner, gallery } = testConsole
  assertOk(await owner.send('POST', '/second-factor', { password: validPassword }))
  const { store } = gallery.database
  await store.db.updateTable('secondFactors').set({ isConfirmed: 1 }).execute()
  const token = await store.write((tx) => createSetupLink(tx, null, Date.now()))
  const client = testConsole.newClient()
  const password = validPassword
  assertOk(await client.send('POST', '/setup', { token, name: 'Olga', password }))
  assert.equal((await client.get('/second-factor')).body.isEnabled, false)
})

test('The audit log lists the changes apart from the calls of the playground', async () => {
  await using testConsole = await startConsole()
  const { owner, projectId } = testConsole
  const call = { projectId, call: { action: 'svc.detect', params: { images: [] } } }
  assertOk(await owner.send('POST', '/playground', call))
  const actions = async (query: string) =>
    (await owner.get(`/audit${query}`)).body.items.map(
      ({ auditAction }: { auditAction: string }) => auditAction,
    )
  assert.ok((await actions('')).includes('playground.call'))
  assert.deepEqual(await actions('?kind=playground'), ['playground.call'])
  assert.deepEqual(await actions('?kind=changes'), ['session.setUp'])
  const ofPlayground = 'auditAction=playground.call'
  assert.deepEqual(await actions(`?${ofPlayground}`), ['playground.call'])
  assert.deepEqual(await actions(`?kind=playground&${ofPlayground}`), ['playground.call'])
  assert.deepEqual(await actions(`?kind=changes&${ofPlayground}`), [])
  assert.deepEqual(await actions('?kind=playground&auditAction=session.setUp'), [])
  const { body } = await owner.get(`/audit?kind=changes&${ofPlayground}&total=true`)
  assert.equal(body.total, 0)
  await runLines(testConsole.gallery.dataDir, consoleLink, 'link')
  assert.deepEqual(await actions('?kind=commandLine'), ['session.createSetupLink'])
  for (const list of ['/audit', '/audit.csv'])
    assert.equal((await owner.get(`${list}?kind=other`)).status, 422, list)
  const { items } = (await owner.get('/audit?kind=commandLine')).body
  assert.deepEqual(
    [items[0].userName, items[0].description],
    ['command line', 'Created a setup link for an owner'],
  )
})

test('The audit log shows every audit action in plain words', async () => {
  const declared = consoleRoutes.flatMap((route) =>
    'auditAction' in route ? [route.auditAction] : [],
  )
  const rejected = [
    'session.signInFailed',
    'session.changePasswordFailed',
    'secondFactor.passwordFailed',
  ]
  const withoutWords = [...declared, ...rejected].filter(
    (auditAction) => !(auditAction in auditActions),
  )
  assert.deepEqual(withoutWords, [], 'add these actions to src/console/server/audit-actions.json')
  for (const words of Object.values(auditActions)) assert.match(words, /^[A-Z][a-zA-Z -]+$/u)
  assert.equal(describeAuditAction('later.newThing'), 'Later: new thing')
})
