import assert from 'node:assert/strict'
import { queries } from './tracked-queries.ts'
import { assertSameValues, nowMs, type StoreFixture } from './store-fixture.ts'

const ciphertext = Buffer.from('ciphertext')

export const livenessContract = {
  'a challenge is spent once, before it expires, and only in its project': async ({
    store,
    project,
  }: StoreFixture) => {
    const { projectId } = project
    const key = { projectId, challengeId: 'first' }
    await store.write(async (tx) => {
      await queries.lockChallenges(tx, projectId)
      for (const challengeId of ['first', 'second', 'third'])
        await queries.addChallenge(tx, {
          projectId,
          challengeId,
          steps: '["turnLeft"]',
          expiresAtMs: nowMs + 100,
        })
    })
    const find = (challenge: object) =>
      store.read((tx) => queries.findOpenChallenge(tx, { ...key, nowMs, ...challenge }))
    assert.equal((await find({}))?.steps, '["turnLeft"]')
    assert.ok(await find({ nowMs: nowMs + 99 }))
    assert.equal(await find({ nowMs: nowMs + 100 }), undefined, 'it has expired')
    assert.equal(await find({ projectId: 'other' }), undefined)
    const spend = (challenge: object) =>
      store.write((tx) => queries.spendChallenge(tx, { ...key, nowMs, failed: 1, ...challenge }))
    assert.equal(await spend({ projectId: 'other' }), false)
    assert.equal(await spend({ nowMs: nowMs + 100 }), false)
    assert.equal(await spend({}), true)
    assert.equal(await spend({}), false)
    assert.equal(await find({}), undefined)
    assert.equal(await spend({ challengeId: 'second', nowMs: nowMs + 5 }), true)
    await store.read(async (tx) => {
      const open = { projectId, nowMs }
      assert.equal(await queries.countOpenChallenges(tx, open), 1)
      assert.equal(await queries.countOpenChallenges(tx, { ...open, nowMs: nowMs + 100 }), 0)
      const failures = { projectId, afterMs: nowMs - 1, limit: 5 }
      assertSameValues(await queries.findFailureTimes(tx, failures), [nowMs + 5, nowMs])
      assertSameValues(await queries.findFailureTimes(tx, { ...failures, limit: 1 }), [nowMs + 5])
      assertSameValues(await queries.findFailureTimes(tx, { ...failures, afterMs: nowMs + 5 }), [])
    })
    assert.equal(await spend({ challengeId: 'third', failed: 0 }), true)
    const sweep = (beforeMs: number, limit: number) =>
      store.write((tx) => queries.deleteExpiredChallenges(tx, { beforeMs, limit }))
    assert.equal(await sweep(nowMs + 99, 9), 0)
    assert.equal(await sweep(nowMs + 100, 2), 2)
    assert.equal(await sweep(nowMs + 100, 2), 1)
  },

  'a token is found and spent once, before it expires, and only in its project': async ({
    store,
    project,
  }: StoreFixture) => {
    const { projectId } = project
    const tokenHash = Buffer.alloc(32, 7)
    const token = { tokenHash, projectId, modelId: 'm@1', ciphertext, expiresAtMs: nowMs + 100 }
    await store.write(async (tx) => {
      await queries.addLivenessToken(tx, token)
      await queries.addLivenessToken(tx, { ...token, tokenHash: Buffer.alloc(32, 8) })
    })
    const key = { tokenHash, projectId, nowMs }
    const find = (change: object) =>
      store.read((tx) => queries.findLivenessToken(tx, { ...key, ...change }))
    const spend = (change: object) =>
      store.write((tx) => queries.spendLivenessToken(tx, { ...key, ...change }))
    const found = await find({ nowMs: nowMs + 99 })
    assertSameValues([found?.modelId, found?.expiresAtMs], ['m@1', nowMs + 100])
    assertSameValues(Buffer.from(found?.ciphertext ?? []), ciphertext)
    for (const change of [{ nowMs: nowMs + 100 }, { projectId: 'other' }]) {
      assert.equal(await find(change), undefined)
      assert.equal(await spend(change), false)
    }
    assert.equal(await spend({}), true)
    assert.equal(await spend({}), false)
    assert.equal(await find({}), undefined)
    const sweep = (beforeMs: number) =>
      store.write((tx) => queries.deleteExpiredTokens(tx, { beforeMs, limit: 9 }))
    assert.equal(await sweep(nowMs + 99), 0)
    assert.equal(await sweep(nowMs + 100), 1)
  },
}
