import assert from 'node:assert/strict'
import { latencyPercentileMs } from '../../../src/lib/observability/latency-histogram.ts'
import type { ReadTx, Tx } from '../../../src/store/database.ts'
import { queries } from './tracked-queries.ts'
import { settlementOf } from '../../support/billing/charge-call.ts'
import { chargeCall, countedCallOf, fundProject } from './ledger-rows.ts'
import { nowMs, nowUtc, assertSameValues, type StoreFixture } from './store-fixture.ts'

const hourMs = 3_600_000
const hash = Buffer.alloc(32, 1)

export const callsContract = {
  'the admission facts, the bucket and the key’s last use are read and written': async ({
    store,
    keyId,
    project,
    accountId,
  }: StoreFixture) => {
    const { projectId } = project
    const call = { projectId, keyId, requestId: 'r1', action: 'svc.detect' }
    await queries.setPrice(store.db, accountId, { action: 'svc.detect', unitMicros: 77n })
    await store.write(async (tx) => {
      const facts = await tx.findAdmissionFacts(call)
      assert.equal(facts?.key.unitMicros, 77n)
      assert.ok(!facts.fullAtUs, 'an unused bucket is full')
      assertSameValues([facts.budget.balanceMicros, facts.attempt], [0n, undefined])
      const other = await tx.findAdmissionFacts({ ...call, action: 'svc.other' })
      assert.equal(other?.key.unitMicros, null)
      assert.equal(await tx.findAdmissionFacts({ ...call, keyId: 'unknown' }), undefined)
      await tx.touchKey({ keyId, atUtc: nowUtc })
      await tx.updateBucket({ projectId, fullAtUs: nowMs * 1000 })
    })
    await store.write(async (tx) => {
      const facts = await tx.findAdmissionFacts(call)
      assert.equal(facts?.fullAtUs, nowMs * 1000)
      assert.equal(facts.key.lastUsedAtUtc, nowUtc)
    })
    await store.read(async (tx) => {
      const bucket = await queries.readBucketState(tx, projectId)
      assertSameValues(
        [bucket?.fullAtUs, bucket?.sustainedPerS, bucket?.burst],
        [nowMs * 1000, null, null],
      )
      assert.equal(await queries.readBucketState(tx, 'unknown'), undefined)
    })
  },

  'an attempt is completed or deleted once, only with its token': async ({
    store,
    project,
    keyId,
  }: StoreFixture) => {
    const { projectId } = project
    const attempt = {
      projectId,
      keyId,
      action: 'a',
      fingerprint: hash,
      reservedMicros: 5n,
      windowStartMs: nowMs,
    }
    const insert = (requestId: string, deadlineMs: number) =>
      store.write((tx) =>
        tx.attempts.insert({ ...attempt, requestId, deadlineMs, token: `t ${requestId}` }),
      )
    for (const [index, requestId] of ['r1', 'r2', 'r3', 'r4'].entries())
      await insert(requestId, nowMs + index)
    await assert.rejects(insert('r1', 0), /unique/iu)
    const owner = (requestId: string, token = `t ${requestId}`) => ({ projectId, requestId, token })
    const charged = { projectId, keyId, action: 'a', windowStartMs: nowMs, nowMs, amountMicros: 0n }
    const complete = (tx: Tx, { requestId, token }: ReturnType<typeof owner>) =>
      tx.settleCall(settlementOf({ ...charged, requestId }, { token }))
    await store.write(async (tx) => {
      const { attempts } = tx
      const find = async ({ requestId }: ReturnType<typeof owner>) =>
        (await tx.findAdmissionFacts({ projectId, keyId, requestId, action: 'a' }))?.attempt
      const found = await find(owner('r1'))
      assertSameValues(
        [found?.state, found?.reservedMicros, found?.deadlineMs],
        ['running', 5n, nowMs],
      )
      assertSameValues(Buffer.from(found?.fingerprint ?? []), hash)
      assert.equal(await complete(tx, owner('r1', 'other')), false)
      assert.equal(await complete(tx, owner('r1')), true)
      assert.equal(await complete(tx, owner('r1')), false)
      assert.equal(await attempts.deleteOwned(owner('r1')), false, 'it is complete')
      assert.equal(await attempts.deleteOwned(owner('r2')), true)
      assert.equal(await find(owner('r2')), undefined)
      const idsOf = async (deadlineMs: number, limit: number) =>
        (await attempts.findOverdue({ deadlineMs, limit })).map((row) => row.requestId)
      assertSameValues(await idsOf(nowMs + 3, 9), ['r3'])
      assertSameValues(await idsOf(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER), ['r3', 'r4'])
      assertSameValues(await idsOf(Number.MAX_SAFE_INTEGER, 1), ['r3'])
      assert.equal(await attempts.delete(owner('r3')), true)
      assert.equal(await attempts.delete(owner('r3')), false)
      assert.equal(await queries.deleteExpiredAttempts(tx, nowMs - 1), 0)
      assert.equal(await queries.deleteExpiredAttempts(tx, nowMs), 1)
    })
  },

  'rows of the request log are found by every filter, in pages': async (fixture: StoreFixture) => {
    const { store, project, accountId, keyId } = fixture
    const codes = ['OK', 'NO_FACE_FOUND', 'OK', 'RATE_LIMITED']
    await store.write(async (tx) => {
      for (const [index, code] of codes.entries())
        await tx.logCall({
          ...countedCallOf(fixture, { code, atMs: nowMs + index, requestId: `R${index}` }),
          ...(index === 2 && { detail: '{"problems":[]}' }),
          ...(index < 2 && { outcome: 'no_match', nearMiss: index === 1 ? 1 : 0 }),
        })
    })
    const find = async (filter: object) =>
      (await queries.searchCalls(store, { limit: 9, ...filter })).map((row) => row.requestId)
    assertSameValues(await find({}), ['R3', 'R2', 'R1', 'R0'])
    assertSameValues(await find({ code: 'NO_FACE_FOUND' }), ['R1'])
    assertSameValues(await find({ code: 'OK', keyId, projectId: project.projectId }), ['R2', 'R0'])
    assertSameValues(await find({ accountId, action: 'svc.detect' }), ['R3', 'R2', 'R1', 'R0'])
    assertSameValues(await find({ accountId: 'other' }), [])
    assertSameValues(await find({ requestId: 'R2' }), ['R2'])
    assertSameValues(await find({ requestIdPrefix: 'r', code: 'OK' }), ['R2', 'R0'])
    assertSameValues(await find({ requestIdPrefix: 'R1' }), ['R1'])
    assertSameValues(await find({ result: 'failed' }), ['R3', 'R1'])
    assertSameValues(await find({ result: 'ok', requestIdPrefix: 'R' }), ['R2', 'R0'])
    assertSameValues(await find({ requestIdPrefix: 'R10' }), [])
    assertSameValues(await find({ outcome: 'no_match' }), ['R1', 'R0'])
    assertSameValues(await find({ outcome: 'match' }), [])
    assertSameValues(await find({ nearMiss: true }), ['R1'])
    assertSameValues(await find({ nearMiss: false }), ['R3', 'R2', 'R0'])
    assertSameValues(await find({ fromMs: nowMs + 1, toMs: nowMs + 3 }), ['R2', 'R1'])
    assertSameValues(await find({ isAscending: true, limit: 2 }), ['R0', 'R1'])
    const count = (filter: object) => queries.countLoggedCalls(store, filter)
    assertSameValues(await count({ accountId }), { total: 4, isCapped: false })
    assertSameValues(await count({ accountId: 'other' }), { total: 0, isCapped: false })
    assertSameValues((await count({ requestIdPrefix: 'R1', result: 'failed' })).total, 1)
    const search = async (filter: object) =>
      (await queries.searchCalls(store, { limit: 9, ...filter })).map((row) => row.requestId)
    assertSameValues(await search({ accountId, keyId, result: 'failed' }), ['R3', 'R1'])
    const latencies = await queries.searchLatencies(store, { accountId, code: 'OK', limit: 9 })
    const ids = latencies.map(({ callId }) => callId)
    const found = await store.read((tx) => queries.findCallsById(tx, ids))
    assertSameValues(found.map((row) => row.requestId).toSorted(), ['R0', 'R2'])
    assertSameValues(
      latencies.map(({ latencyMs }) => latencyMs),
      found.map(({ latencyMs }) => latencyMs),
    )
    const changed = { projectId: project.projectId, threshold: 0.8, fromMs: nowMs }
    assertSameValues(await queries.countChangedDecisions(store, changed), {
      calls: 0,
      matches: 0,
      isCapped: false,
      newMatches: 0,
      lostMatches: 0,
    })
    await store.read(async (tx) => {
      const [, after] = await queries.readCalls(tx, { limit: 2 })
      assert.ok(after)
      const before = await queries.readCalls(tx, { after, isAscending: true, limit: 2 })
      assertSameValues(
        before.map((row) => row.requestId),
        ['R3'],
      )
      const rest = await queries.readCalls(tx, { after, limit: 2 })
      assertSameValues(
        rest.map((row) => row.requestId),
        ['R1', 'R0'],
      )
      assertSameValues(await queries.findCall(tx, after.callId), {
        ...countedCallOf(fixture, { atMs: nowMs + 2, requestId: 'R2' }),
        callId: after.callId,
        detail: '{"problems":[]}',
      })
      assertSameValues(rest[0]?.detail ?? null, null)
      assert.equal(await queries.countCallsByPrefix(tx, 'R', 3), 3)
      assert.equal(await queries.countCallsByPrefix(tx, 'R2', 3), 1)
      assert.equal(await queries.findCall(tx, 10 ** 9), undefined)
    })
    const sweep = (beforeMs: number) => store.write((tx) => tx.sweepCalls({ beforeMs, limit: 2 }))
    assertSameValues(
      [await sweep(nowMs), await sweep(nowMs + 3), await sweep(nowMs + 3)],
      [0, 2, 1],
    )
    assertSameValues(await find({}), ['R3'])
  },

  'calls and scores are counted by hour for the charts': async (fixture: StoreFixture) => {
    const { store, accountId, project } = fixture
    const { projectId } = project
    const startMs = Math.floor(nowMs / hourMs) * hourMs
    await store.write(async (tx) => {
      for (const [index, latencyMs] of [1, 10, 100, 1000].entries())
        await tx.logCall(
          countedCallOf(fixture, {
            latencyMs,
            atMs: startMs + index * hourMs,
            code: index % 2 ? 'NO' : 'OK',
          }),
        )
      await tx.logCall(countedCallOf(fixture, { latencyMs: 10, atMs: startMs + 5 }))
    })
    await fundProject(fixture, 10_000n)
    const scores = [0, 0.5, 0.501, 1].map((value) => ({
      kind: 'similarity' as const,
      value,
      isMatched: value > 0.5,
    }))
    await store.write((tx) => chargeCall(tx, fixture, 'paid', { scores }))
    const filter = { accountId, fromMs: startMs, toMs: startMs + 4 * hourMs }
    const twoDays = { ...filter, fromMs: startMs - 24 * hourMs }
    const find = (tx: ReadTx, part: typeof twoDays) =>
      queries.countCalls(tx, part, { by: 'projectId', stepMs: hourMs })
    const chart = (await Array.fromAsync(queries.readChart(store, twoDays, find))).flat()
    assert.deepEqual(await queries.readWholeChart(store, twoDays, find), chart)
    assertSameValues(chart.map((row) => [row.atMs, row.id, row.calls]).slice(0, 1), [
      [startMs, projectId, 3],
    ])
    await store.read(async (tx) => {
      const byCode = await queries.countCalls(tx, filter, { by: 'code', stepMs: 2 * hourMs })
      const lines = byCode.map(
        (row) => `${row.atMs % hourMs} ${row.id} ${row.calls} ${row.billed} ${row.costMicros}`,
      )
      assert.equal(
        byCode.reduce((sum, row) => sum + row.calls, 0),
        6,
        lines.join(),
      )
      assert.equal(
        byCode.reduce((sum, row) => sum + row.costMicros, 0n),
        1000n,
      )
      assert.ok(byCode.every((row) => row.atMs % (2 * hourMs) === 0))
      const narrow = { ...filter, projectId, keyId: fixture.keyId, action: 'svc.detect' }
      const hours = await queries.findLatencies(tx, { ...narrow, toMs: startMs + hourMs }, hourMs)
      assertSameValues([...hours.keys()], [startMs])
      const histogram = hours.get(startMs)
      assert.equal(histogram?.length, 80)
      assert.equal(
        histogram.reduce((sum, count) => sum + count),
        3,
      )
      const median = latencyPercentileMs(histogram, 0.5) ?? 0
      assert.ok(median > 8 && median < 12.4, `${median}`)
      assertSameValues(
        await queries.countScores(tx, { ...filter, projectId, kind: 'similarity' }),
        [
          { bin: 0, count: 1, matched: 0 },
          { bin: 25, count: 2, matched: 1 },
          { bin: 49, count: 1, matched: 1 },
        ],
      )
      assertSameValues(await queries.countScores(tx, { ...filter, kind: 'liveness' }), [])
    })
  },

  'a savepoint that fails is rolled back, the rest of the transaction is kept': async (
    fixture: StoreFixture,
  ) => {
    const { store } = fixture
    const log = (tx: Tx, requestId: string) => tx.logCall(countedCallOf(fixture, { requestId }))
    await store.write(async (tx) => {
      await log(tx, 'before')
      await assert.rejects(
        tx.savepoint(async () => {
          await log(tx, 'inside')
          await tx.savepoint(() => log(tx, 'deeper'))
          await assert.rejects(
            tx.savepoint(async () => {
              await log(tx, 'deepest')
              throw new Error('deepest')
            }),
          )
          throw new Error('inside')
        }),
        /inside/u,
      )
      assert.equal(await tx.savepoint(async () => 7), 7)
      await tx.savepoint(() => log(tx, 'kept'))
      await log(tx, 'after')
    })
    const failing = store.write(async (tx) => {
      await log(tx, 'never')
      throw new Error('whole transaction')
    })
    await assert.rejects(failing, /whole transaction/u)
    const rows = await queries.searchCalls(store, { limit: 9 })
    assertSameValues(rows.map((row) => row.requestId).toSorted(), ['after', 'before', 'kept'])
  },

  'a read transaction sees one snapshot while others write': async (fixture: StoreFixture) => {
    const { store } = fixture
    await store.read(async (tx) => {
      const count = async () => (await queries.readCalls(tx, { limit: 9 })).length
      assert.equal(await count(), 0)
      await store.write((writeTx) => writeTx.logCall(countedCallOf(fixture)))
      assert.equal(await count(), 0)
    })
    assert.equal((await store.read((tx) => queries.readCalls(tx, { limit: 9 }))).length, 1)
  },
}
