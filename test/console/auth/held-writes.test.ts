import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fillCalls } from '../../support/console/fill-calls.ts'
import { requireAccountScope } from '../../../src/lib/account-context.ts'
import { createInterruptedStore } from '../../support/console/interrupt-write.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'
import { openRawClient } from '../../support/network/raw-client.ts'
import {
  assertOk,
  startConsole,
  validPassword,
  type ConsoleClient,
  type TestConsole,
} from '../../support/console/test-console.ts'

type HeldWrite = { readonly method: string; readonly path: string; readonly body: object }

/** Longer than the interval at which the last use of a session is stored. */
const touchIntervalMs = 120_000

/** Starts a console and returns a function that holds writes before their last byte. */
async function startHeldWrites() {
  let nowMs = Date.now()
  const testConsole = await startConsole({ clock: () => nowMs })
  /** Sends a write without its last byte. Returns when the server has authorized its session. */
  const hold = async (client: ConsoleClient, write: HeldWrite, observer: ConsoleClient) => {
    const userId = await userIdOf(client)
    nowMs += touchIntervalMs
    const raw = await openRawClient(testConsole.url)
    const content = JSON.stringify(write.body)
    raw.send(`${headOf(testConsole, client, write, content.length)}${content.slice(0, -1)}`)
    const expected = new Date(nowMs).toISOString()
    for (let seenAtUtc = ''; seenAtUtc !== expected;) {
      const { body } = assertOk(await observer.get(`/users/${userId}/sessions`))
      seenAtUtc = body.items[0].lastSeenAtUtc
      assert.equal(raw.received(), '')
    }
    return async () => {
      raw.send(content.slice(-1))
      return statusOf(await raw.readToEnd())
    }
  }
  return { testConsole, hold }
}

function headOf(
  { url }: TestConsole,
  client: ConsoleClient,
  { method, path }: HeldWrite,
  contentLength: number,
): string {
  const headers = {
    host: new URL(url).host,
    origin: url,
    cookie: client.cookie(),
    'x-csrf-token': client.csrfToken(),
    'content-type': 'application/json',
    'content-length': contentLength,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} /console/v1${path} HTTP/1.1\r\n${lines.join('')}\r\n`
}

function statusOf(response: string): number {
  return Number(response.split(' ')[1])
}

async function userIdOf(client: ConsoleClient): Promise<string> {
  return assertOk(await client.get('/session')).body.user.userId
}

/** Creates a second owner and returns the signed-in client. */
function inviteOwner(testConsole: TestConsole): Promise<ConsoleClient> {
  return testConsole.inviteMember('owner')
}

/** The rows that the list of a download reads at once. */
const pageRows = 100

const losses: Readonly<Record<string, (owner: ConsoleClient, userId: string) => Promise<unknown>>> =
  {
    'was disabled': async (owner, userId) =>
      assertOk(await owner.send('PATCH', `/users/${userId}`, { disabled: true })),
    'was demoted': async (owner, userId) =>
      assertOk(await owner.send('PATCH', `/users/${userId}`, { role: 'viewer' })),
    'was signed out': async (owner, userId) =>
      assertOk(await owner.send('POST', `/users/${userId}/sign-out`)),
  }

for (const [loss, apply] of Object.entries(losses))
  test(`A write whose last byte arrives after its user ${loss} changes nothing`, async () => {
    const { testConsole, hold } = await startHeldWrites()
    await using _console = testConsole
    const { owner, projectId } = testConsole
    const other = await inviteOwner(testConsole)
    const userId = await userIdOf(other)
    const call = { action: 'svc.enroll', params: { ...imageParams('ann'), externalId: 'ann' } }
    const writes: HeldWrite[] = [
      { method: 'POST', path: '/users', body: { name: 'Eve', role: 'owner' } },
      {
        method: 'POST',
        path: '/keys',
        body: { projectId, name: 'eve', permissions: ['*'], expiresAtUtc: null },
      },
      { method: 'PATCH', path: `/users/${await userIdOf(owner)}`, body: { role: 'viewer' } },
      { method: 'POST', path: '/playground', body: { projectId, call } },
    ]
    const finishAll = []
    for (const write of writes) finishAll.push(await hold(other, write, owner))
    await apply(owner, userId)
    const expected = loss === 'was demoted' ? 403 : 401
    for (const finish of finishAll) assert.equal(await finish(), expected)
    const { body: team } = assertOk(await owner.get('/users'))
    assert.deepEqual(team.items.map(({ name }: { name: string }) => name).sort(), [
      'Olga',
      'owner 1',
    ])
    const { body: keys } = assertOk(await owner.get('/keys'))
    assert.equal(
      keys.items.some(({ name }: { name: string }) => name === 'eve'),
      false,
    )
    const { body: subjects } = assertOk(await owner.get(`/projects/${projectId}/subjects`))
    assert.deepEqual(subjects.items, [])
  })

for (const loss of ['was disabled', 'was signed out'])
  test(`A download ends before its next page after its user ${loss}`, async () => {
    /** Runs before the first page of the download is read. */
    let interrupt: (() => Promise<unknown>) | undefined
    await using testConsole = await startConsole({
      wrapStore: (store) => ({
        ...store,
        read: async (job) => {
          // The session and maintenance are read for all accounts.
          if (interrupt && requireAccountScope() !== '*') {
            const run = interrupt
            interrupt = undefined
            await run()
          }
          return store.read(job)
        },
      }),
    })
    const { owner, gallery, url } = testConsole
    const other = await testConsole.inviteMember('viewer')
    const userId = await userIdOf(other)
    const { body } = assertOk(await owner.get('/keys'))
    const { projectId, keyId } = body.items[0]
    await fillCalls(gallery.database.store, { projectId, keyId, count: 3 * pageRows })
    const headers = { cookie: other.cookie() }
    const whole = await fetch(`${url}/console/v1/log.csv`, { headers })
    assert.ok((await whole.text()).split('\r\n').length > 3 * pageRows)
    interrupt = async () => losses[loss]?.(owner, userId)
    const held = await fetch(`${url}/console/v1/log.csv`, { headers })
    assert.equal(held.status, 200)
    let sent = ''
    const read = async () => {
      for await (const chunk of held.body ?? []) sent += Buffer.from(chunk).toString('latin1')
    }
    await assert.rejects(read(), TypeError('terminated'))
    assert.ok(sent.split('\r\n').length < 2 * pageRows, 'more than one page was sent')
  })

test('Downloads at once use one turn of the event loop for each page', async () => {
  let isCounting = false
  let turns = 0
  const turnsAtReads: number[] = []
  await using testConsole = await startConsole({
    wrapStore: (store) => ({
      ...store,
      read: async (job) => {
        if (isCounting) turnsAtReads.push(turns)
        return store.read(job)
      },
    }),
  })
  const { owner, gallery, url } = testConsole
  const { projectId, keyId } = assertOk(await owner.get('/keys')).body.items[0]
  const [downloads, pages] = [4, 5]
  await fillCalls(gallery.database.store, { projectId, keyId, count: pages * pageRows })
  const countTurn = (): void => {
    turns += 1
    if (isCounting) setImmediate(countTurn)
  }
  isCounting = true
  setImmediate(countTurn)
  const headers = { cookie: owner.cookie() }
  const download = async () => (await fetch(`${url}/console/v1/log.csv`, { headers })).text()
  await Promise.all(Array.from({ length: downloads }, download))
  isCounting = false
  assert.ok(
    new Set(turnsAtReads).size > downloads * pages,
    `reads at the turns ${turnsAtReads.join(' ')}`,
  )
})

test('A playground call whose user is disabled while it runs is in the audit log', async () => {
  const { wrapStore, beforeNextWrite } = createInterruptedStore()
  await using testConsole = await startConsole({ wrapStore })
  const { owner, projectId } = testConsole
  const other = await testConsole.inviteMember('admin')
  const userId = await userIdOf(other)
  const enrollAs = (client: ConsoleClient, name: string) => {
    const call = { action: 'svc.enroll', params: { ...imageParams(name), externalId: name } }
    return client.send('POST', '/playground', { projectId, call })
  }
  assertOk(await enrollAs(owner, 'ann')) // The first call creates the key of the playground.
  beforeNextWrite(async () => losses['was disabled']?.(owner, userId))
  const { body } = assertOk(await enrollAs(other, 'ben'))
  assert.equal((await enrollAs(other, 'cleo')).status, 401)
  const { body: subjects } = assertOk(await owner.get(`/projects/${projectId}/subjects`))
  assert.equal(subjects.items.length, 2)
  const { body: audit } = assertOk(await owner.get(`/audit?userId=${userId}&kind=playground`))
  const targets = audit.items.map(({ target }: { target: string }) => target)
  assert.deepEqual(targets, [body.envelope.requestId])
})

test('Of two owners who demote each other at the same time, one remains an owner', async () => {
  const { testConsole, hold } = await startHeldWrites()
  await using _console = testConsole
  const { owner } = testConsole
  const other = await inviteOwner(testConsole)
  const [ownerId, otherId] = [await userIdOf(owner), await userIdOf(other)]
  const demote = (userId: string) => ({
    method: 'PATCH',
    path: `/users/${userId}`,
    body: { role: 'admin' },
  })
  const finishFirst = await hold(owner, demote(otherId), other)
  const finishSecond = await hold(other, demote(ownerId), owner)
  const statuses = await Promise.all([finishFirst(), finishSecond()])
  assert.deepEqual(statuses.sort(), [200, 403])
  const { body } = assertOk(await owner.get('/users'))
  const roles = body.items.map(({ role }: { role: string }) => role)
  assert.deepEqual(roles.sort(), ['admin', 'owner'])
})

test('A sign-in with a password that changed during its check creates no session', async () => {
  const { wrapStore, beforeNextWrite } = createInterruptedStore()
  await using testConsole = await startConsole({ wrapStore })
  const { owner } = testConsole
  const next = 'another long password'
  beforeNextWrite(async () =>
    assertOk(await owner.send('POST', '/password', { current: validPassword, next })),
  )
  const guest = testConsole.newClient()
  const signIn = { name: 'Olga', password: validPassword }
  assert.equal((await guest.send('POST', '/sign-in', signIn)).status, 401)
  assertOk(await guest.send('POST', '/sign-in', { name: 'Olga', password: next }))
})
