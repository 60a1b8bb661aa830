import assert from 'node:assert/strict'
import { hashApiKey } from '../../../src/lib/crypto/api-key.ts'
import { queries } from './tracked-queries.ts'
import { now, nowMs, nowUtc, assertSameValues, type StoreFixture } from './store-fixture.ts'

const hourMs = 3_600_000
const after = (ms: number): Date => new Date(nowMs + ms)

export const keyChangesContract = {
  'a rotated key has two secrets until the end of the overlap': async ({
    store,
    keyId,
    key,
  }: StoreFixture) => {
    const rotate = (overlapMs: number, at: Date) =>
      store.runExclusive(({ db }) => queries.rotateKey(db, { keyId, overlapMs }, at))
    const rotated = await rotate(hourMs, now)
    assert.ok(rotated.state === 'active')
    assert.equal(rotated.formerEndsAtUtc, after(hourMs).toISOString())
    const current = await store.findKey(rotated.key, now)
    assertSameValues(
      [current?.keyId, current?.state, current?.formerSecret],
      [keyId, 'active', undefined],
    )
    const hashes = [rotated.key, key].map((secret) => hashApiKey(secret).toString('hex'))
    const routes = (await queries.listKeyRoutes(store.db, undefined)).filter(
      (route) => route.keyId === keyId,
    )
    assert.deepEqual(
      routes.map(({ hash }) => Buffer.from(hash).toString('hex')),
      hashes,
      'a proxy routes both secrets',
    )
    assert.deepEqual(await queries.listKeyRoutes(store.db, 'none'), [])
    const accounts = await queries.listAccounts(store.db)
    assert.ok(accounts.some(({ accountId }) => accountId === routes[0]?.accountId))
    const stateOf = async (secret: string, at: Date) => (await store.findKey(secret, at))?.state
    assert.equal(await stateOf(key, after(hourMs - 1)), 'active')
    assert.equal(await stateOf(key, after(hourMs)), 'replaced')

    const use = (atMs: number, endsAtUtc = rotated.formerEndsAtUtc) =>
      store.write((tx) =>
        queries.recordFormerSecretUse(tx, {
          keyId,
          endsAtUtc,
          atUtc: after(atMs).toISOString(),
          unlessUsedAfterUtc: after(atMs - 60_000).toISOString(),
        }),
      )
    const lastUse = async () => (await store.findKey(key, now))?.formerSecret?.lastUsedAtUtc
    assert.equal(await lastUse(), null)
    await use(0)
    await use(59_999)
    assert.equal(await lastUse(), nowUtc, 'a minute has not passed')
    await use(60_000)
    await use(600_000, nowUtc)
    assert.equal(
      await lastUse(),
      after(60_000).toISOString(),
      'the secret is identified by its end',
    )

    const again = await rotate(hourMs, after(1))
    assert.ok(again.state === 'active')
    assert.equal(await store.findKey(key, after(1)), undefined, 'the earliest secret ended')
    await store.write((tx) => queries.endFormerSecret(tx, keyId, after(2).toISOString()))
    assert.equal(await stateOf(rotated.key, after(1)), 'active')
    assert.equal(await stateOf(rotated.key, after(2)), 'replaced')
    await store.write((tx) => queries.endFormerSecret(tx, keyId, after(9).toISOString()))
    assert.equal(await stateOf(rotated.key, after(2)), 'replaced', 'an end is not moved')
    await queries.revokeKey(store.db, keyId, after(2))
    assert.equal(await stateOf(rotated.key, after(1)), 'revoked')
    assert.deepEqual(await rotate(0, after(3)), { state: 'revoked' })
    const unknown = { keyId: 'unknown', overlapMs: 0 }
    assert.deepEqual(await queries.rotateKey(store.db, unknown, now), { state: 'unknown' })
  },

  'a change of a key applies to the next lookup': async ({ store, keyId, key }: StoreFixture) => {
    await store.write((tx) => queries.recordExpiryNotice(tx, { keyId, expiryNoticeDays: null }, 3))
    const noticeOf = async () => {
      const query = store.db.selectFrom('keys').select('expiryNoticeDays')
      return (await query.where('keyId', '=', keyId).executeTakeFirstOrThrow()).expiryNoticeDays
    }
    const permissions = ['svc.detect']
    await store.write((tx) => queries.updateKey(tx, keyId, { name: 'door', permissions }))
    assert.equal(await noticeOf(), 3)
    assertSameValues((await store.findKey(key, now))?.permissions, permissions)
    await store.write((tx) => queries.updateKey(tx, keyId, { expiresAtUtc: nowUtc }))
    assert.equal(await noticeOf(), null, 'another expiry has other notices')
    assert.equal((await store.findKey(key, now))?.state, 'expired')
    const rotation = { keyId, overlapMs: 0 }
    assert.deepEqual(await queries.rotateKey(store.db, rotation, now), { state: 'expired' })
  },

  'a remembered key has a version that changes with the key, and can be read again': async ({
    store,
    key,
    keyId,
  }: StoreFixture) => {
    assert.ok(store.findRememberedKey)
    const current = await store.findKey(key, now)
    const remembered = await store.findRememberedKey(key, now)
    assert.equal(typeof remembered?.version, 'string')
    const refreshed = await remembered?.refresh?.(now)
    // Each identity has its own function.
    assert.deepEqual({ ...refreshed, refresh: null }, { ...current, refresh: null })
    assert.equal(await store.findRememberedKey('fsk_live_unknown', now), undefined)
    const permissions = ['svc.detect']
    await store.write((tx) => queries.updateKey(tx, keyId, { permissions }))
    assert.equal((await store.findRememberedKey(key, now))?.version, remembered?.version)
    assert.notEqual((await store.findKey(key, now))?.version, remembered?.version)
  },

  'the usage of keys is summed by period': async ({
    store,
    accountId,
    keyId,
    project,
  }: StoreFixture) => {
    const startMs = Math.floor(nowMs / hourMs) * hourMs
    const call = {
      keyId,
      projectId: project.projectId,
      action: 'svc.detect',
      latencyMs: 1,
      isReplay: 0,
      transferId: null,
    } as const
    const amounts = { costMicros: 0n, meteredMicros: 5n }
    const at = (hours: number, code: string) =>
      store.write((tx) =>
        tx.logCall({
          ...call,
          ...amounts,
          requestId: `${hours} ${code}`,
          code,
          atMs: startMs + hours * hourMs,
        }),
      )
    for (const hours of [-30, -3, -2, 0]) await at(hours, 'OK')
    for (const hours of [-3, -2]) await at(hours, 'NO_FACE_FOUND')
    const fromMs = startMs - 3 * hourMs
    const filter = { accountId, keyIds: [keyId, 'other'], fromMs, recentFromMs: fromMs + hourMs }
    const sum = (change: object) =>
      store.read((tx) => queries.sumKeyUsage(tx, { ...filter, ...change }))
    assertSameValues(await sum({}), [
      {
        keyId,
        calls: 5,
        failed: 2,
        costMicros: 0n,
        meteredMicros: 25n,
        recentCalls: 3,
        recentFailed: 1,
        recentCostMicros: 0n,
        recentMeteredMicros: 15n,
      },
    ])
    assert.deepEqual(await sum({ keyIds: [] }), [])
    assert.deepEqual(await sum({ accountId: 'other' }), [])
  },
}
