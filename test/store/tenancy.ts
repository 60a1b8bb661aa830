import assert from 'node:assert/strict'
import { ask } from './queries.ts'
import { byValue, now, nowMs, nowUtc, same, type World } from './world.ts'

const hash = Buffer.alloc(32, 7)

export const tenancy = {
  'the first start happens once, and its key opens': async ({
    store,
    accountId,
    project,
    key,
  }: World) => {
    assert.equal(await store.change(({ db }) => ask.firstStart(db, now)), undefined)
    assert.equal(await ask.firstAccountId(store.db), accountId)
    const facts = await store.findKey(key, now)
    same(facts, {
      keyId: facts?.keyId,
      projectId: project.projectId,
      accountId,
      galleryId: project.projectId,
      switches: { gender: true, expression: true, storeCrops: false, adopt: false },
      permissions: ['*'],
      state: 'active',
    })
    assert.equal(await store.findKey('fsk_live_nobody', now), undefined)
  },

  'projects are found by id and name, changed, and listed': async ({
    store,
    accountId,
    project,
  }: World) => {
    const wanted = { accountId, name: 'Ärzte', galleryMode: 'shared' } as const
    const second = await store.change(({ db }) => ask.createProject(db, wanted, now))
    await assert.rejects(
      store.change(({ db }) => ask.createProject(db, wanted, now)),
      /unique/iu,
    )
    same(await ask.findProject(store.db, 'Ärzte'), second)
    await ask.updateProject(store.db, second.projectId, {
      sustainedPerS: 5,
      burst: 7,
      retentionDays: 30,
      identifyThreshold: 0.625,
      switches: { storeCrops: true, gender: false },
    })
    await ask.updateProject(store.db, second.projectId, {})
    const changed = await ask.findProject(store.db, second.projectId)
    same(changed, {
      ...second,
      sustainedPerS: 5,
      burst: 7,
      retentionDays: 30,
      identifyThreshold: 0.625,
      switches: { gender: false, expression: true, storeCrops: true, adopt: false },
    })
    same(
      (await ask.listProjects(store.db)).map(({ name }) => name),
      ['default', 'Ärzte'],
    )
    await store.read(async (reading) => {
      assert.equal(await ask.identifyThresholdOf(reading, second.projectId), 0.625)
      assert.equal(await ask.identifyThresholdOf(reading, project.projectId), null)
      assert.equal((await ask.switchesOfProject(reading, second.projectId)).storeCrops, true)
      const days = (await ask.projectRetentions(reading)).map(({ retentionDays }) => retentionDays)
      same(days.toSorted(byValue), [null, 30])
    })
  },

  'keys are listed in pages, revoked once, and expire': async ({
    store,
    accountId,
    project,
  }: World) => {
    const { projectId } = project
    const make = (name: string, at: number, expiresAtUtc: string | null = null) =>
      ask.createKey(
        store.db,
        { projectId, name, permissions: ['svc.detect'], expiresAtUtc },
        new Date(at),
      )
    const { keyId } = await make('second', nowMs + 1)
    await make('third', nowMs + 2, nowUtc)
    const state = (wanted: 'active' | 'revoked' | 'expired') =>
      store.read(async (reading) =>
        (await ask.findKeys(reading, { accountId, state: wanted, now, limit: 9 })).map(
          (row) => row.name,
        ),
      )
    same(await state('active'), ['second', 'first key'])
    same(await state('expired'), ['third'])
    assert.equal(await ask.revokeKey(store.db, keyId, now), nowUtc)
    assert.equal(await ask.revokeKey(store.db, keyId, new Date(0)), nowUtc)
    assert.equal(await ask.revokeKey(store.db, 'nobody', now), undefined)
    same(await state('revoked'), ['second'])
    await ask.createHiddenKey(store.db, projectId, now)
    const listed = await ask.listKeys(store.db, projectId, now)
    same(
      listed.map(({ name }) => name),
      ['first key', 'second', 'third'],
    )
    same(listed[1]?.permissions, ['svc.detect'])
    await store.read(async (reading) => {
      const page = await ask.findKeys(reading, { accountId, projectId, now, limit: 2 })
      same(
        page.map((row) => row.name),
        ['third', 'second'],
      )
      const [, after] = page
      const rest = await ask.findKeys(reading, { accountId, now, after, limit: 2 })
      same(
        rest.map((row) => [row.name, row.projectName]),
        [['first key', 'default']],
      )
      assert.equal((await ask.findKey(reading, { accountId, keyId, now }))?.state, 'revoked')
      assert.equal(await ask.findKey(reading, { accountId: 'other', keyId, now }), undefined)
      assert.equal((await ask.findHiddenKey(reading, projectId))?.accountId, accountId)
      same([...(await ask.keyNames(reading, accountId)).values()].toSorted(), [
        'Console playground',
        'first key',
        'second',
        'third',
      ])
    })
  },

  'users, their sessions and their links come and go': async ({ store, accountId }: World) => {
    const unseen = {
      password: null,
      lastSeenAtUtc: null,
      disabledAtUtc: null,
      createdAtUtc: nowUtc,
    }
    const add = (userId: string, name: string) =>
      store.change(({ tx }) =>
        ask.addUser(tx, { ...unseen, userId, accountId, name, role: 'owner' }),
      )
    await add('u2', 'zoe')
    const ann = await add('u1', 'Ann')
    await assert.rejects(add('u3', 'ANN'), /unique/iu)
    await store.read(async (reading) => {
      assert.equal(await ask.isAnybodyThere(reading), false)
      same(await ask.findUserByName(reading, 'ann'), ann)
      same(
        (await ask.listUsers(reading, accountId)).map((user) => user.name),
        ['Ann', 'zoe'],
      )
    })
    await store.write(async (tx) => {
      await ask.changeUser(tx, 'u1', { password: 'hash', lastSeenAtUtc: nowUtc })
      for (const [at, userId] of ['u1', 'u1', 'u2', 'u2'].entries()) {
        const tokenHash = Buffer.alloc(32, at)
        await ask.addSession(tx, {
          tokenHash,
          userId,
          createdAtMs: nowMs + at,
          lastSeenAtMs: nowMs,
        })
      }
      await ask.touchSession(tx, Buffer.alloc(32, 3), nowMs + 99)
      await ask.endSession(tx, Buffer.alloc(32, 0))
      await ask.forgetSessions(tx, nowMs + 2, nowMs)
      await ask.forgetSessions(tx, 0, nowMs + 1)
      await ask.addLink(tx, { tokenHash: hash, userId: null, expiresAtMs: nowMs + 1 })
      await ask.addLink(tx, {
        tokenHash: Buffer.alloc(32, 8),
        userId: null,
        expiresAtMs: nowMs + 1,
      })
      await ask.addLink(tx, {
        tokenHash: Buffer.alloc(32, 9),
        userId: 'u2',
        expiresAtMs: nowMs + 1,
      })
    })
    await store.read(async (reading) => {
      assert.equal(await ask.isAnybodyThere(reading), true)
      assert.equal((await ask.findUser(reading, 'u1'))?.password, 'hash')
      const sessions = [0, 1, 2, 3].map((at) => ask.findSession(reading, Buffer.alloc(32, at)))
      same(
        (await Promise.all(sessions)).map((found) => found?.name),
        [undefined, undefined, undefined, 'zoe'],
      )
      assert.equal(await ask.findLink(reading, hash, nowMs), undefined, 'one of its kind')
      const link = await ask.findLink(reading, Buffer.alloc(32, 8), nowMs)
      same([link?.userId, link?.expiresAtMs], [null, nowMs + 1])
      assert.equal(await ask.findLink(reading, Buffer.alloc(32, 8), nowMs + 1), undefined)
    })
    await store.write(async (tx) => {
      await ask.endLink(tx, Buffer.alloc(32, 9))
      await ask.endSessionsOf(tx, 'u2')
      assert.equal(await ask.findLink(tx, Buffer.alloc(32, 9), nowMs), undefined)
      assert.equal(await ask.findSession(tx, Buffer.alloc(32, 3)), undefined)
    })
  },

  'acts are a chain that nothing can change': async ({ store, accountId }: World) => {
    const of = { accountId, userId: 'u1', userName: 'Ann', target: 't', detail: '{}', ip: '::1' }
    const add = (at: number) =>
      store.change(({ tx }) =>
        ask.addAct(tx, { ...of, act: at % 2 ? 'odd' : 'even', atMs: nowMs + at }),
      )
    await Promise.all([1, 2, 3, 4, 5].map(add))
    same(await ask.brokenActs(store.db), [])
    await store.read(async (reading) => {
      const found = async (filter: object) =>
        (await ask.findActs(reading, { accountId, limit: 9, ...filter })).map(
          ({ atMs }) => atMs - nowMs,
        )
      same(await found({}), [5, 4, 3, 2, 1])
      same(await found({ act: 'odd', userId: 'u1' }), [5, 3, 1])
      same(await found({ fromMs: nowMs + 2, toMs: nowMs + 4 }), [3, 2])
      const [, second] = await ask.findActs(reading, { accountId, limit: 2 })
      same(await found({ after: second }), [3, 2, 1])
      const place = { userId: 'u1', ip: '::1', sinceMs: nowMs + 5 }
      assert.equal(await ask.hasActedFrom(reading, place), true)
      assert.equal(await ask.hasActedFrom(reading, { ...place, sinceMs: nowMs + 6 }), false)
    })
    const changing = store.db.updateTable('adminActs').set({ ip: 'x' }).execute()
    await assert.rejects(changing, /append-only/u)
    await assert.rejects(store.db.deleteFrom('adminActs').execute(), /append-only/u)
  },

  'two accounts are two': async ({ store, accountId }: World) => {
    const other = await store.change(({ db }) =>
      ask.createAccount(db, 'other', new Date(nowMs + 1)),
    )
    assert.equal(await ask.firstAccountId(store.db), accountId)
    await ask.setPrice(store.db, other, { action: 'svc.detect', unitMicros: 5n })
    await ask.setPrice(store.db, other, { action: 'svc.detect', unitMicros: 2n ** 62n })
    same(await ask.listPrices(store.db, other), [{ action: 'svc.detect', unitMicros: 2n ** 62n }])
    same(await ask.listPrices(store.db, accountId), [])
    await ask.removePrice(store.db, other, 'svc.detect')
    same(await ask.listPrices(store.db, other), [])
    same(await ask.balancesOf(store.db, other), [
      { ledger: `wallet:${other}`, balanceMicros: 0n, reservedMicros: 0n },
    ])
  },
}
