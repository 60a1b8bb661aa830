import assert from 'node:assert/strict'
import { createKey } from '../../../src/store/tenancy/keys.ts'
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
    const ofFirst = { projectId, sessionId: 'of-first' }
    await store.write(async (tx) => {
      await queries.lockChallenges(tx, projectId)
      for (const challengeId of ['first', 'second', 'third']) {
        const sessionId = `of-${challengeId}`
        await queries.addLivenessSession(tx, newSession({ sessionId, projectId, requestId: null }))
        await queries.addChallenge(tx, {
          projectId,
          challengeId,
          sessionId,
          steps: '["turnLeft"]',
          expiresAtMs: nowMs + 100,
        })
      }
    })
    const find = (challenge: object) =>
      store.read((tx) => queries.findOpenChallenge(tx, { ...ofFirst, nowMs, ...challenge }))
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
    const sweep = (beforeMs: number) =>
      store.write((tx) => queries.deleteExpiredRows(tx, 'livenessChallenges', beforeMs))
    assertSameValues([await sweep(nowMs + 99), await sweep(nowMs + 100)], [0, 3])
  },

  'a reference frame is found and removed once, before it expires, and only in its project':
    async ({ store, project }: StoreFixture) => {
      const { projectId } = project
      const session = (sessionId: string) =>
        newSession({ sessionId, projectId, requestId: sessionId })
      await store.write(async (tx) => {
        await queries.addLivenessSession(tx, session('first'))
        await queries.addLivenessSession(tx, session('second'))
        const change = { state: 'passed', attemptsLeft: 2 } as const
        await queries.updateLivenessSession(tx, { projectId, sessionId: 'first' }, change)
        await queries.addFrame(tx, frameOf('first', projectId), ciphertext.byteLength)
      })
      const key = { sessionId: 'first', projectId, nowMs }
      const find = (change: object) =>
        store.read((tx) => queries.findLivenessSession(tx, { ...key, ...change }))
      const remove = (change: object) =>
        store.write((tx) => queries.removeFrame(tx, { ...key, ...change }))
      const found = await find({ nowMs: nowMs + 99 })
      assertSameValues([found?.state, found?.attemptsLeft, found?.hasFrame], ['passed', 2, 1])
      const frame = await store.read((tx) => queries.findFrame(tx, key))
      assertSameValues(Buffer.from(frame ?? []), ciphertext)
      const byRequest = { projectId, requestId: 'second', nowMs }
      const second = await store.read((tx) => queries.findLivenessSession(tx, byRequest))
      assert.equal(second?.sessionId, 'second')
      for (const change of [{ nowMs: nowMs + 100 }, { projectId: 'other' }]) {
        assert.equal(await find(change), undefined)
        assert.equal(await remove(change), false)
      }
      assert.equal(await remove({ sessionId: 'second' }), false, 'it has no frame')
      assert.equal(await remove({}), true)
      assert.equal(await remove({}), false)
      assert.equal((await find({}))?.hasFrame, 0)
      assert.equal(await store.read((tx) => queries.findFrame(tx, key)), null)
      assert.equal((await store.read(queries.listSessionSecrets)).length, 2)
      const sweep = (beforeMs: number) =>
        store.write((tx) => queries.deleteExpiredRows(tx, 'livenessSessions', beforeMs))
      assertSameValues([await sweep(nowMs + 99), await sweep(nowMs + 100)], [0, 2])
    },

  'a frame removes the oldest frames of its project beyond the limit of bytes, and they expire':
    async ({ store, accountId, project }: StoreFixture) => {
      const { projectId } = project
      const other = { accountId, name: 'other', galleryMode: 'isolated' } as const
      const { projectId: otherId } = await queries.createProject(store.db, other, new Date(nowMs))
      const add = (sessionId: string, owner: string, { bytes = 10, lifeMs = 100 } = {}) =>
        store.write(async (tx) => {
          await queries.lockChallenges(tx, owner)
          const session = newSession({ sessionId, projectId: owner, requestId: null })
          await queries.addLivenessSession(tx, session)
          const frame = { ...frameOf(sessionId, owner), expiresAtMs: nowMs + lifeMs }
          await queries.addFrame(tx, { ...frame, frame: Buffer.alloc(bytes) }, 30)
        })
      const framesOf = async (owner: string) => {
        const frames = store.db.selectFrom('livenessFrames').where('projectId', '=', owner)
        const rows = await frames.select(['sessionId', 'bytes']).orderBy('sessionId').execute()
        return rows.map(({ sessionId, bytes }) => `${sessionId} ${bytes}`)
      }
      await add('of-other', otherId)
      for (const [index, sessionId] of ['a', 'b', 'c'].entries())
        await add(sessionId, projectId, { lifeMs: 100 + index })
      assertSameValues(await framesOf(projectId), ['a 10', 'b 10', 'c 10'], 'exactly the limit')
      await add('d', projectId, { bytes: 11, lifeMs: 103 })
      assertSameValues(await framesOf(projectId), ['c 10', 'd 11'])
      assertSameValues(await framesOf(otherId), ['of-other 10'])
      const sweep = (beforeMs: number) =>
        store.write((tx) => queries.deleteExpiredRows(tx, 'livenessFrames', beforeMs))
      assertSameValues([await sweep(nowMs + 99), await sweep(nowMs + 102)], [0, 2])
      const remove = (table: 'livenessFrames' | 'livenessSessions') =>
        store.write((tx) => queries.deleteProjectRows(tx, table, projectId))
      const hasRows = () => store.read((tx) => queries.hasRemainingRows(tx, projectId))
      assertSameValues([await remove('livenessFrames'), await hasRows()], [1, true])
      assertSameValues([await remove('livenessSessions'), await hasRows()], [4, false])
      assert.equal((await store.read(queries.listSessionSecrets)).length, 1, 'of the other project')
    },

  'a frame removes at most two batches of frames that a lower limit does not permit, the oldest first':
    async ({ store, project: { projectId } }: StoreFixture) => {
      const mebibyte = 1024 * 1024
      const add = (sessionId: string, bytes: number, bytesMax: number) =>
        store.write(async (tx) => {
          const session = newSession({ sessionId, projectId, requestId: null })
          await queries.addLivenessSession(tx, session)
          const expiresAtMs = nowMs + sessionId.charCodeAt(0)
          const frame = { ...frameOf(sessionId, projectId), expiresAtMs }
          await queries.addFrame(tx, { ...frame, frame: Buffer.alloc(bytes) }, bytesMax)
        })
      const frames = async () => {
        const rows = store.db.selectFrom('livenessFrames').select('sessionId').orderBy('sessionId')
        return (await rows.execute()).map(({ sessionId }) => sessionId).join('')
      }
      for (const sessionId of 'abcde') await add(sessionId, 1.5 * mebibyte, 8 * mebibyte)
      await add('f', 1, 2 * mebibyte)
      assert.equal(await frames(), 'cdef')
      await add('g', 1, 2 * mebibyte)
      assert.equal(await frames(), 'efg')
    },

  'a session has a limited number of requests of its browser, with the caller of its key': async ({
    store,
    project,
  }: StoreFixture) => {
    const { projectId, accountId } = project
    const key = { projectId, name: 'page', permissions: ['svc.liveness'], expiresAtUtc: null }
    const { keyId } = await createKey(store.db, key, new Date(nowMs))
    const session = { ...newSession({ sessionId: 's', projectId, requestId: null }), keyId }
    await store.write((tx) => queries.addLivenessSession(tx, session))
    const find = (ms: number, sessionId = 's') =>
      store.read((tx) => queries.findBrowserSession(tx, sessionId, new Date(ms)))
    const found = await find(nowMs)
    assertSameValues(found?.identity.accountId, accountId)
    assertSameValues([found?.identity.permissions, found?.origins], [['svc.liveness'], []])
    assert.equal(await find(nowMs, 'unknown'), undefined)
    assert.equal(await find(nowMs + 100), undefined)
    const take = () => store.write((tx) => queries.takeSessionRequest(tx, 's'))
    assertSameValues([await take(), await take(), await take()], [true, true, false])
  },
}

function frameOf(sessionId: string, projectId: string) {
  return { sessionId, projectId, expiresAtMs: nowMs + 100, frame: ciphertext }
}

function newSession(ids: {
  readonly sessionId: string
  readonly projectId: string
  readonly requestId: string | null
}) {
  const secret = { masterKeyId: 'm', wrapped: ciphertext }
  const limits = { stepCount: 3, requireAngles: 0, attemptsLeft: 3, requestsLeft: 2 } as const
  return { ...ids, ...secret, ...limits, keyId: 'k', expiresAtMs: nowMs + 100 }
}
