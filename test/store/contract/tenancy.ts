import assert from 'node:assert/strict'
import { queries } from './tracked-queries.ts'
import {
  compareNullable,
  now,
  nowMs,
  nowUtc,
  assertSameValues,
  type StoreFixture,
} from './store-fixture.ts'

const hash = Buffer.alloc(32, 7)
const switches = {
  expression: true,
  autoEnroll: false,
  feedback: false,
  unknownPeople: false,
  nearMissCrops: false,
  matchDays: false,
}

export const tenancyContract = {
  'the initial project is created once, and its key is valid': async ({
    store,
    accountId,
    project,
    key,
  }: StoreFixture) => {
    assert.equal(
      await store.runExclusive(({ db }) => queries.createInitialProject(db, now)),
      undefined,
    )
    assert.equal(await queries.findFirstAccountId(store.db), accountId)
    const found = await store.findKey(key, now)
    assert.ok(found?.refresh)
    const { refresh, ...identity } = found
    assert.equal((await refresh(now))?.version, identity.version)
    assertSameValues(identity, {
      keyId: identity.keyId,
      projectId: project.projectId,
      accountId,
      galleryId: project.projectId,
      switches: { ...switches, gender: true, storeCrops: false, billing: true },
      permissions: ['*'],
      matchWebhooks: 0,
      isFrozen: 0,
      state: 'active',
      version: identity.version,
    })
    assert.equal(await store.findKey('fsk_live_unknown', now), undefined)
  },

  'projects are found by id and name, changed and listed': async ({
    store,
    accountId,
    project,
  }: StoreFixture) => {
    const newProject = { accountId, name: 'Ärzte', galleryMode: 'shared' } as const
    const second = await store.runExclusive(({ db }) => queries.createProject(db, newProject, now))
    await assert.rejects(
      store.runExclusive(({ db }) => queries.createProject(db, newProject, now)),
      /unique/iu,
    )
    assertSameValues(await queries.findProject(store.db, 'Ärzte'), second)
    await queries.updateProject(store.db, second.projectId, {
      sustainedPerS: 5,
      burst: 7,
      retentionDays: 30,
      identifyThreshold: 0.625,
      livenessOrigins: 'https://a.example https://b.example',
      switches: { storeCrops: true, gender: false, billing: false },
    })
    await queries.updateProject(store.db, second.projectId, {})
    const changed = await queries.findProject(store.db, second.projectId)
    assertSameValues(changed, {
      ...second,
      sustainedPerS: 5,
      burst: 7,
      retentionDays: 30,
      identifyThreshold: 0.625,
      livenessOrigins: 'https://a.example https://b.example',
      switches: { ...switches, gender: false, storeCrops: true, billing: false },
    })
    const projects = (await queries.listProjects(store.db)).map(({ name }) => name)
    assertSameValues(projects, ['default', 'Ärzte'])
    assert.equal((await queries.projectNames(store.db)).get(second.projectId), 'Ärzte')
    await store.read(async (tx) => {
      assert.equal(await queries.findIdentifyThreshold(tx, second.projectId), 0.625)
      assert.equal(await queries.findIdentifyThreshold(tx, project.projectId), null)
      const origins = ['https://a.example', 'https://b.example']
      assertSameValues(await queries.findLivenessOrigins(tx, second.projectId), origins)
      assertSameValues(await queries.findLivenessOrigins(tx, project.projectId), [])
      assert.equal((await queries.findProjectSwitches(tx, second.projectId)).storeCrops, true)
      const days = (await queries.listProjectRetentions(tx)).map(
        ({ retentionDays }) => retentionDays,
      )
      assertSameValues(days.toSorted(compareNullable), [null, 30])
    })
  },

  'keys are listed in pages, revoked once, and expire': async ({
    store,
    accountId,
    project,
  }: StoreFixture) => {
    const { projectId } = project
    const create = (name: string, createdAtMs: number, expiresAtUtc: string | null = null) =>
      queries.createKey(
        store.db,
        { projectId, name, permissions: ['svc.detect'], expiresAtUtc },
        new Date(createdAtMs),
      )
    const { keyId } = await create('second', nowMs + 1)
    await create('third', nowMs + 2, nowUtc)
    const namesByState = (state: 'active' | 'revoked' | 'expired') =>
      store.read(async (tx) =>
        (await queries.findKeys(tx, { accountId, state, now, limit: 9 })).map((row) => row.name),
      )
    assertSameValues(await namesByState('active'), ['second', 'first key'])
    assertSameValues(await namesByState('expired'), ['third'])
    assert.equal(await queries.revokeKey(store.db, keyId, now), nowUtc)
    assert.equal(await queries.revokeKey(store.db, keyId, new Date(0)), nowUtc)
    assert.equal(await queries.revokeKey(store.db, 'unknown', now), undefined)
    assert.equal((await queries.findKeyOwner(store.db, keyId))?.projectId, projectId)
    assertSameValues(await namesByState('revoked'), ['second'])
    await queries.createPlaygroundKey(store.db, projectId, now)
    const listed = await queries.listKeys(store.db, projectId, now)
    assertSameValues(
      listed.map(({ name }) => name),
      ['first key', 'second', 'third'],
    )
    assertSameValues(listed[1]?.permissions, ['svc.detect'])
    await store.read(async (tx) => {
      const page = await queries.findKeys(tx, { accountId, projectId, now, limit: 2 })
      assertSameValues(
        page.map((row) => row.name),
        ['third', 'second'],
      )
      const [, after] = page
      const rest = await queries.findKeys(tx, { accountId, now, after, limit: 2 })
      assertSameValues(
        rest.map((row) => [row.name, row.projectName]),
        [['first key', 'default']],
      )
      const sorted = async (filter: object) =>
        (await queries.findKeys(tx, { accountId, now, limit: 9, ...filter })).map((row) => row.name)
      const byName = { by: 'name', isDescending: false } as const
      assertSameValues(await sorted({ sort: byName }), ['first key', 'second', 'third'])
      assertSameValues(await sorted({ sort: byName, after }), ['third'])
      for (const by of ['expiresAtUtc', 'lastUsedAtUtc'] as const)
        for (const isDescending of [false, true]) {
          const [first, second, ...others] = await queries.findKeys(tx, {
            accountId,
            now,
            limit: 9,
            sort: { by, isDescending },
          })
          assert.ok(first && second)
          const rest = await sorted({ sort: { by, isDescending }, after: second })
          assertSameValues(
            rest,
            others.map((row) => row.name),
          )
        }
      assertSameValues(await queries.countKeys(tx, { accountId, now, state: 'active' }), {
        total: 1,
        isCapped: false,
      })
      assert.equal((await queries.findKey(tx, { accountId, keyId, now }))?.state, 'revoked')
      assert.equal(await queries.findKey(tx, { accountId: 'other', keyId, now }), undefined)
      assert.equal((await queries.findPlaygroundKey(tx, projectId, now))?.accountId, accountId)
      assertSameValues([...(await queries.keyNames(tx, accountId)).values()].toSorted(), [
        'Console playground',
        'first key',
        'second',
        'third',
      ])
    })
  },

  'users, their sessions and their invite links are created and deleted': async ({
    store,
    accountId,
  }: StoreFixture) => {
    const newUser = {
      password: null,
      lastSeenAtUtc: null,
      disabledAtUtc: null,
      createdAtUtc: nowUtc,
    }
    const add = (userId: string, name: string) =>
      store.runExclusive(({ tx }) =>
        queries.addUser(tx, { ...newUser, userId, accountId, name, role: 'owner' }),
      )
    await add('u2', 'zoe')
    const ann = await add('u1', 'Ann')
    const link = { creatorId: null, expiresAtMs: nowMs + 1 }
    assert.equal(await add('u3', 'ANN'), undefined, 'a user with the name exists')
    await store.read(async (tx) => {
      assert.equal(await queries.hasActiveUser(tx), false)
      assertSameValues(await queries.findUserByName(tx, 'ann'), ann)
      assertSameValues(
        (await queries.listUsers(tx, accountId)).map((user) => user.name),
        ['Ann', 'zoe'],
      )
    })
    await store.write(async (tx) => {
      await queries.updateUser(tx, 'u1', { password: 'hash', lastSeenAtUtc: nowUtc })
      for (const [index, userId] of ['u1', 'u1', 'u2', 'u2'].entries()) {
        const tokenHash = Buffer.alloc(32, index)
        await queries.addSession(tx, {
          tokenHash,
          userId,
          createdAtMs: nowMs + index,
          lastSeenAtMs: nowMs,
          ip: '',
          userAgent: '',
        })
      }
      await queries.touchSession(tx, Buffer.alloc(32, 3), nowMs + 99)
      await queries.endSession(tx, Buffer.alloc(32, 0))
      await queries.deleteExpiredSessions(tx, nowMs + 2, nowMs)
      await queries.deleteExpiredSessions(tx, 0, nowMs + 1)
      for (const [tokenHash, userId] of [
        [hash, null],
        [Buffer.alloc(32, 8), null],
        [Buffer.alloc(32, 9), 'u2'],
      ] as const)
        await queries.addInviteLink(tx, { ...link, tokenHash, userId })
    })
    await store.read(async (tx) => {
      assert.equal(await queries.hasActiveUser(tx), true)
      assert.equal((await queries.findUser(tx, 'u1'))?.password, 'hash')
      const sessions = [0, 1, 2, 3].map((byte) => queries.findSession(tx, Buffer.alloc(32, byte)))
      assertSameValues(
        (await Promise.all(sessions)).map((session) => session?.name),
        [undefined, undefined, undefined, 'zoe'],
      )
      assert.equal(await queries.findInviteLink(tx, hash, nowMs), undefined, 'it was replaced')
      const found = await queries.findInviteLink(tx, Buffer.alloc(32, 8), nowMs)
      assertSameValues([found?.userId, found?.expiresAtMs], [null, nowMs + 1])
      assert.equal(await queries.findInviteLink(tx, Buffer.alloc(32, 8), nowMs + 1), undefined)
    })
    await store.write(async (tx) => {
      assert.equal(await queries.removeInviteLink(tx, 'u2'), true)
      assert.equal(await queries.removeInviteLink(tx, 'u2'), false)
      await queries.endUserSessions(tx, 'u2')
      assert.equal(await queries.findInviteLink(tx, Buffer.alloc(32, 9), nowMs), undefined)
      assert.equal(await queries.findSession(tx, Buffer.alloc(32, 3)), undefined)
    })
  },

  'audit log entries form a hash chain and cannot be changed': async ({
    store,
    accountId,
  }: StoreFixture) => {
    const entry = { accountId, userId: 'u1', userName: 'Ann', target: 't', detail: '{}', ip: '::1' }
    const add = (number: number) =>
      store.runExclusive(({ tx }) =>
        queries.addAuditEntry(tx, {
          ...entry,
          auditAction: number % 2 ? 'odd' : 'even',
          atMs: nowMs + number,
        }),
      )
    await Promise.all([1, 2, 3, 4, 5].map(add))
    assertSameValues(await queries.findBrokenAuditEntries(store.db), [])
    // A migrated database has an entry of the migration, which is later.
    const own = { accountId, toMs: nowMs + 6 }
    await store.read(async (tx) => {
      const find = async (filter: object) =>
        (await queries.findAuditEntries(tx, { ...own, limit: 9, ...filter })).map(
          ({ atMs }) => atMs - nowMs,
        )
      assertSameValues(await find({}), [5, 4, 3, 2, 1])
      assertSameValues(await find({ auditAction: 'odd', userId: 'u1' }), [5, 3, 1])
      await assert.rejects(find({ kind: 'other' }), /no kind other of audit entries/u)
      assertSameValues(await find({ fromMs: nowMs + 2, toMs: nowMs + 4 }), [3, 2])
      const [, second] = await queries.findAuditEntries(tx, { ...own, limit: 2 })
      assertSameValues(await find({ after: second }), [3, 2, 1])
      assertSameValues(await find({ after: second, isAscending: true }), [5])
      const activity = { userId: 'u1', ip: '::1', sinceMs: nowMs + 5 }
      assert.equal(await queries.hasRecentActivity(tx, activity), true)
      assert.equal(await queries.hasRecentActivity(tx, { ...activity, sinceMs: nowMs + 6 }), false)
    })
    const odd = { ...own, auditAction: 'odd' }
    const found = await queries.searchAuditEntries(store, { ...odd, limit: 2 })
    assertSameValues(
      found.map(({ atMs }) => atMs - nowMs),
      [5, 3],
    )
    const counted = await queries.countAuditEntries(store, odd)
    assertSameValues(counted, { total: 3, isCapped: false })
    const update = store.db.updateTable('auditLog').set({ ip: 'x' }).execute()
    await assert.rejects(update, /append-only/u)
    await assert.rejects(store.db.deleteFrom('auditLog').execute(), /append-only/u)
  },
}
