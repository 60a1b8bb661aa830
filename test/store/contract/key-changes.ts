import assert from 'node:assert/strict'
import { hashApiKey } from '../../../src/lib/crypto/api-key.ts'
import { countedCallOf } from './ledger-rows.ts'
import { queries } from './tracked-queries.ts'
import { now, nowMs, nowUtc, assertSameValues, type StoreFixture } from './store-fixture.ts'

const hourMs = 3_600_000
const weekMs = 7 * 24 * hourMs
const startMs = Date.UTC(2026, 0, 5)
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
    const sum = (change: object) => queries.sumKeyUsage(store, { ...filter, ...change })
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

  'the decisions of a key are summed by week': async (fixture: StoreFixture) => {
    const { store, accountId, keyId } = fixture
    const filter = { accountId, fromMs: startMs, toMs: startMs + 2 * weekMs }
    const match = { outcome: 'match', similarity: 0.91, threshold: 0.8, quality: 80 } as const
    const miss = { ...match, outcome: 'no_match', similarity: 0.77, nearMiss: 1 } as const
    const calls = [
      { code: 'NO_FACE_FOUND' },
      { ...match, quality: null },
      { ...match, atMs: startMs + weekMs, quality: 62.4, similarity: 0.8765 },
      { ...miss, atMs: startMs + weekMs },
      { outcome: 'live', quality: 70, nearMiss: 1, atMs: startMs + weekMs } as const,
    ]
    await store.write(async (tx) => {
      for (const call of calls) await tx.logCall(countedCallOf(fixture, { atMs: startMs, ...call }))
    })
    const steps = { startMs, stepMs: weekMs }
    const weeks = await store.read((tx) => queries.sumDecisions(tx, filter, steps))
    assert.deepEqual(
      weeks.map((week) => ({ ...week })).toSorted((a, b) => a.step - b.step),
      [
        {
          keyId,
          step: 0,
          withoutFace: 1,
          decided: 1,
          compared: 1,
          unmatched: 0,
          nearMisses: 0,
          matched: 1,
          similaritySum: 9100,
          rated: 0,
          qualitySum: 0,
        },
        {
          keyId,
          step: 1,
          withoutFace: 0,
          decided: 3,
          compared: 2,
          unmatched: 1,
          nearMisses: 1,
          matched: 1,
          similaritySum: 8765,
          rated: 3,
          qualitySum: 212,
        },
      ],
    )
  },

  'the changes of a key are reported once by one server': async ({
    store,
    accountId,
    project: { projectId },
    keyId,
  }: StoreFixture) => {
    const atMs = startMs + weekMs
    const usedSinceUtc = new Date(startMs).toISOString()
    const find = (reportedBeforeMs: number) =>
      store.read((tx) => queries.findUsedKeys(tx, { usedSinceUtc, reportedBeforeMs }))
    assert.deepEqual(await find(startMs), [])
    await store.db
      .updateTable('keys')
      .set({ lastUsedAtUtc: usedSinceUtc })
      .where('keyId', '=', keyId)
      .execute()
    const [used] = await find(startMs)
    assert.deepEqual([used?.keyId, used?.accountId, used?.projectId], [keyId, accountId, projectId])
    const changes = [{ measure: 'quality', before: 90, after: 60 }] as const
    const report = { keyId, cameraChangesAtMs: atMs, changes, reportedBeforeMs: startMs }
    const record = () => store.write((tx) => queries.recordCameraChanges(tx, report))
    assert.deepEqual([await record(), await record()], [true, false])
    assert.deepEqual([await find(atMs - 1), (await find(atMs)).length], [[], 1])
    // The clock was ahead when the report was stored.
    const behindMs = atMs - weekMs - 24 * hourMs
    assert.deepEqual([await find(behindMs), (await find(behindMs - 1)).length], [[], 1])
    const reported = (sinceMs: number, filter: object = {}) =>
      store.read((tx) => queries.findReportedKeys(tx, { accountId, sinceMs, ...filter }))
    const [key] = await reported(startMs, { projectId })
    assert.deepEqual([key?.keyId, key?.changes], [keyId, changes])
    assert.deepEqual(await reported(atMs), [])
    assert.deepEqual(await reported(startMs, { accountId: 'other' }), [])
    await store.runExclusive(({ db }) => queries.revokeKey(db, keyId, now))
    assert.deepEqual([await find(atMs), await reported(startMs)], [[], []])
  },
}
