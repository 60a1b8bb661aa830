import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUserWithoutPassword, createSetupLink } from '../../../src/console/auth/setup.ts'
import { createAccount } from '../../../src/store/tenancy/projects.ts'
import {
  assertOk,
  startConsole,
  validPassword,
  type ConsoleClient,
  type TestConsole,
} from '../../support/console/test-console.ts'

const hourMs = 3_600_000
const otherPassword = 'another correct horse 77'

const tokenOf = ({ inviteLink }: { readonly inviteLink: string }) =>
  new URL(inviteLink).hash.slice(1)

async function createLink(creator: ConsoleClient, userId: string): Promise<string> {
  return tokenOf(assertOk(await creator.send('POST', `/users/${userId}/invite`)).body)
}

async function userIdOf(client: ConsoleClient): Promise<string> {
  return assertOk(await client.get('/session')).body.user.userId
}

/** Sends the token and a password as a person without a session, and returns the status. */
async function statusOfLink({ newClient }: TestConsole, token: string): Promise<number> {
  return (await newClient().send('POST', '/setup', { token, password: otherPassword })).status
}

const endsOfRights: readonly (readonly [string, string, string, object?])[] = [
  ['is disabled', 'PATCH', '', { disabled: true }],
  ['is an admin', 'PATCH', '', { role: 'admin' }],
  ['is signed out by another owner', 'POST', '/sign-out'],
]

for (const [end, method, path, body] of endsOfRights)
  test(`Links and invitations are invalid as soon as their creator ${end}`, async () => {
    await using testConsole = await startConsole()
    const { owner } = testConsole
    const creator = await testConsole.inviteMember('owner')
    const creatorId = await userIdOf(creator)
    const forOwner = await createLink(creator, await userIdOf(owner))
    const invite = { name: 'Ghost', role: 'owner' }
    const forGhost = tokenOf(assertOk(await creator.send('POST', '/users', invite)).body)
    const kept = await createLink(owner, creatorId)
    assertOk(await owner.send(method, `/users/${creatorId}${path}`, body))
    assert.equal(await statusOfLink(testConsole, forOwner), 404)
    assert.equal(await statusOfLink(testConsole, forGhost), 404)
    assert.equal((await owner.get('/session')).body.state, 'signedIn')
    const isDisabled = end === 'is disabled'
    assert.equal(await statusOfLink(testConsole, kept), isDisabled ? 404 : 200)
    assertOk(await owner.send('PATCH', `/users/${creatorId}`, { disabled: false, role: 'owner' }))
    assert.equal(await statusOfLink(testConsole, forOwner), 404, 'it does not return')
  })

test('A new password deletes the links for the user and those that the user created', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const member = await testConsole.inviteMember('owner')
  const [ownerId, memberId] = [await userIdOf(owner), await userIdOf(member)]
  const forMember = await createLink(owner, memberId)
  const forOwner = await createLink(member, ownerId)
  const change = { current: validPassword, next: 'green lamp carpet 12' }
  assertOk(await member.send('POST', '/password', change))
  assert.equal(await statusOfLink(testConsole, forMember), 404)
  assert.equal(await statusOfLink(testConsole, forOwner), 404)
  const signIn = { name: 'owner 1', password: change.next }
  assertOk(await testConsole.newClient().send('POST', '/sign-in', signIn))

  const created = await createLink(member, ownerId)
  assert.equal(await statusOfLink(testConsole, await createLink(owner, memberId)), 200)
  assert.equal(await statusOfLink(testConsole, created), 404, 'set by a link')
})

test('Users cannot create a link for themselves: a new password requires the current one', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  const response = await owner.send('POST', `/users/${await userIdOf(owner)}/invite`)
  assert.equal(response.status, 409)
  assert.match(response.body.detail, /page Account/u)
})

test('The team lists open links with expiry and creator, and an owner revokes them', async () => {
  let nowMs = Date.parse('2026-05-01T12:00:00.000Z')
  await using testConsole = await startConsole({ clock: () => nowMs })
  const { owner } = testConsole
  const [viewer, admin] = [
    await testConsole.inviteMember('viewer'),
    await testConsole.inviteMember('admin'),
  ]
  const viewerId = await userIdOf(viewer)
  const path = `/users/${viewerId}/invite`
  const confirmed = { confirm: 'viewer 1' }
  const openLink = async () => {
    const { items } = assertOk(await viewer.get('/users')).body
    return items.find(({ userId }: { userId: string }) => userId === viewerId).openLink
  }
  assert.equal(await openLink(), null)
  const token = await createLink(owner, viewerId)
  const expected = { expiresAtUtc: '2026-05-02T12:00:00.000Z', createdBy: 'Olga' }
  assert.deepEqual(await openLink(), expected)
  for (const user of [admin, viewer])
    assert.equal((await user.send('DELETE', path, confirmed)).status, 403, 'only owners')
  assert.equal((await owner.send('DELETE', path, { confirm: 'viewer' })).status, 422)
  assert.deepEqual(await openLink(), expected)
  assertOk(await owner.send('DELETE', path, confirmed))
  assert.equal(await openLink(), null)
  assert.equal(await statusOfLink(testConsole, token), 404)
  assert.equal((await owner.send('DELETE', path, confirmed)).status, 404, 'there is none')
  const [entry] = assertOk(await owner.get('/audit?auditAction=user.revokeInvite')).body.items
  assert.deepEqual(
    [entry.userName, entry.target, entry.detail],
    ['Olga', viewerId, { name: 'viewer 1' }],
  )

  const invited = assertOk(await owner.send('POST', '/users', { name: 'Ann', role: 'viewer' })).body
  assert.deepEqual(invited.user.openLink, expected)
  await createLink(owner, viewerId)
  nowMs += 24 * hourMs
  assertOk(await viewer.send('POST', '/sign-in', { name: 'viewer 1', password: validPassword }))
  assert.equal(await openLink(), null, 'it has expired')
})

test('An owner link is for the oldest account, also if a user of another one opens it', async () => {
  await using testConsole = await startConsole()
  const { store } = testConsole.gallery.database
  const accountId = await createAccount(store.db, 'warehouse', new Date())
  const [ownerToken, annaToken] = await store.write(async (tx) => {
    const anna = { name: 'anna', role: 'viewer', accountId } as const
    const { userId } = await addUserWithoutPassword(tx, anna, Date.now())
    return [
      await createSetupLink(tx, null, Date.now()),
      await createSetupLink(tx, userId, Date.now()),
    ]
  })
  const anna = testConsole.newClient()
  const setUp = { token: annaToken, password: validPassword }
  assertOk(await anna.send('POST', '/setup', setUp))
  const taken = { token: ownerToken, name: 'Anna', password: otherPassword }
  for (const browser of [testConsole.newClient(), anna]) {
    const refused = await browser.send('POST', '/setup', taken)
    assert.equal(refused.status, 409)
    assert.deepEqual(refused.body.problems, [
      {
        path: 'body.name',
        message: 'must be another name: a user of this or of another account has this name',
      },
    ])
  }
  assert.equal((await anna.get('/session')).body.user.role, 'viewer')
  assertOk(await anna.send('POST', '/setup', { ...taken, name: 'Anna Smith' }))
  const { items } = assertOk(await testConsole.owner.get('/users')).body
  assert.deepEqual(
    items.map(({ name }: { name: string }) => name),
    ['Anna Smith', 'Olga'],
  )
})

test('The audit log states the creator of a link that set a password', async () => {
  await using testConsole = await startConsole()
  const { owner } = testConsole
  await testConsole.inviteMember('viewer')
  const { items } = assertOk(await owner.get('/audit?auditAction=session.setUp')).body
  assert.deepEqual(
    items.map(({ detail }: { detail: object }) => detail),
    [
      { role: 'viewer', linkCreatedBy: 'Olga' },
      { role: 'owner', linkCreatedBy: 'command line' },
    ],
  )
})

test('Spaces around a pasted name and a pasted setup code are ignored', async () => {
  await using testConsole = await startConsole()
  const { owner, newClient } = testConsole
  const invited = await owner.send('POST', '/users', { name: ' Ann\u00A0', role: 'viewer' })
  const { user, inviteLink } = assertOk(invited).body
  assert.equal(user.name, 'Ann')
  const token = ` ${tokenOf({ inviteLink })}\n`
  assertOk(await newClient().send('POST', '/setup', { token, password: otherPassword }))
  const signIn = { name: '\u00A0ANN ', password: otherPassword }
  assertOk(await newClient().send('POST', '/sign-in', signIn))
})

test('A name has one Unicode form, and joiners are its only invisible characters', async () => {
  await using testConsole = await startConsole()
  const { owner, projectId } = testConsole
  const statusOf = async (name: string) =>
    (await owner.send('POST', '/users', { name, role: 'viewer' })).status
  const joined = ['می\u200Cخواهم', 'क्\u200Dष', 'അവന്\u200D', '\u{1F469}\u{1F3FD}\u200D\u{1F467}']
  for (const name of joined) assert.equal(await statusOf(name), 200, name)
  assert.equal(await statusOf('میخواهم'), 409, 'it looks like a name that exists')
  for (const name of [
    'a\u200B',
    '\u200Da',
    'a \u200Db',
    'a\u200D\u200Db',
    'a\u202Eb',
    '\uFEFF',
    'a\u00ADb',
  ])
    assert.equal(await statusOf(name), 422, JSON.stringify(name))
  const rename = { name: 'Bu\u0308ro' }
  const renamed = assertOk(await owner.send('PATCH', `/projects/${projectId}`, rename))
  assert.equal(renamed.body.name, 'B\u00FCro')
  const same = { name: 'Bu\u0308ro', galleryMode: 'isolated' }
  assert.equal((await owner.send('POST', '/projects', same)).status, 409)
})
