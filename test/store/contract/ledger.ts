import assert from 'node:assert/strict'
import { auditLedger } from '../../../src/billing/audit-ledger.ts'
import { allocate, topUp } from '../../../src/billing/ledger.ts'
import { microsMax } from '../../../src/lib/money.ts'
import type { ReadTx } from '../../../src/store/database.ts'
import { queries } from './tracked-queries.ts'
import { chargeCall, fundProject } from './ledger-rows.ts'
import { compareNullable, nowMs, assertSameValues, type StoreFixture } from './store-fixture.ts'

const hash = Buffer.alloc(32, 1)

const auditRuleNames: readonly string[] = [
  ...(['unbalanced', 'misbilled', 'negative', 'misreserved', 'overdue', 'unaccounted'] as const),
  ...(['misrouted', 'mutable', 'fractional', 'unlogged', 'incomplete'] as const),
]

export const ledgerContract = {
  'accounts have separate prices and balances': async ({ store, accountId }: StoreFixture) => {
    const other = await store.runExclusive(({ db }) =>
      queries.createAccount(db, 'other', new Date(nowMs + 1)),
    )
    assert.equal(await queries.findFirstAccountId(store.db), accountId)
    await queries.setPrice(store.db, other, { action: 'svc.detect', unitMicros: 5n })
    await queries.setPrice(store.db, other, { action: 'svc.detect', unitMicros: 2n ** 62n })
    assertSameValues(await queries.listPrices(store.db, other), [
      { action: 'svc.detect', unitMicros: 2n ** 62n },
    ])
    assertSameValues(await queries.listPrices(store.db, accountId), [])
    await queries.removePrice(store.db, other, 'svc.detect')
    assertSameValues(await queries.listPrices(store.db, other), [])
    const balances = { balanceMicros: 0n, reservedMicros: 0n }
    const ledger = queries.walletLedger(other)
    assertSameValues(await queries.findBalance(store.db, ledger), { ledger, ...balances })
  },

  'reserving and debiting require enough free balance': async (fixture: StoreFixture) => {
    const { store, project, accountId } = fixture
    const ledger = queries.budgetLedger(project.projectId)
    await fundProject(fixture, 1000n)
    await store.write(async (tx) => {
      const change = (name: 'reserve' | 'unreserve' | 'debit' | 'credit', amountMicros: bigint) =>
        tx.ledger[name]({ ledger, amountMicros })
      assert.equal(await change('reserve', 1001n), false)
      assert.equal(await change('reserve', 600n), true)
      assert.equal(await change('debit', 401n), false)
      assert.equal(await change('credit', 2n ** 63n - 1n), false, 'beyond 64 bits')
      assert.equal(await change('unreserve', 600n), true)
      assert.equal(await tx.ledger.reserve({ ledger: 'budget:none', amountMicros: 1n }), false)
      assert.equal((await tx.ledger.findHead(ledger))?.headSeq, 0)
    })
    assertSameValues(await queries.findBalance(store.db, ledger), {
      ledger,
      balanceMicros: 1000n,
      reservedMicros: 0n,
    })
    const heads = await queries.chainHeads(store.db)
    assertSameValues(heads.map((head) => head.headSeq).toSorted(compareNullable), [0, 2])
    const kinds: string[] = []
    for await (const row of queries.readChain(store.db, queries.walletLedger(accountId)))
      kinds.push(row.kind)
    assertSameValues(kinds, ['topUp', 'allocate'])
    await store.read(async (tx) => {
      const [summary] = await queries.findProjectSummaries(tx, accountId, project.projectId)
      assert.equal(summary?.allocatedMicros, 1000n)
    })
  },

  'transfers are found with their calls, and their sums equal the costs in the log': async (
    fixture: StoreFixture,
  ) => {
    const { store, project, accountId } = fixture
    await fundProject(fixture, 10_000n)
    const transferId = await store.write((tx) => chargeCall(tx, fixture, 'R1'))
    await store.write((tx) => chargeCall(tx, fixture, 'R2'))
    const second = store.write((tx) => chargeCall(tx, fixture, 'r1'))
    await assert.rejects(second, /unique/iu, 'one charge for a request')
    const find = async (filter: object) =>
      (await queries.findTransfers(store, { accountId, limit: 9, ...filter })).map(
        ({ kind, amountMicros }) => `${kind} ${amountMicros}`,
      )
    const all = ['charge 1000', 'charge 1000', 'allocate 10000', 'topUp 20000']
    assertSameValues(await find({}), all)
    assertSameValues(await find({ kind: 'topUp' }), ['topUp 20000'])
    assertSameValues(await find({ kind: 'charge', projectId: project.projectId }), all.slice(0, 2))
    assertSameValues(await find({ fromMs: nowMs + 1, toMs: nowMs + 2 }), ['allocate 10000'])
    const [, after] = await queries.findTransfers(store, { accountId, limit: 2 })
    assertSameValues(await find({ after, limit: 1 }), ['allocate 10000'])
    assertSameValues(await find({ after, isAscending: true, limit: 1 }), ['charge 1000'])
    assertSameValues(await find({ isAscending: true, limit: 2 }), all.toReversed().slice(0, 2))
    assertSameValues(await queries.countTransfers(store, { accountId }), {
      total: 4,
      isCapped: false,
    })
    assertSameValues((await queries.countTransfers(store, { accountId: 'other' })).total, 0)
    await store.read(async (tx) => {
      const wallet = queries.walletLedger(accountId)
      assertSameValues(await queries.findTopUp(tx, wallet, 'r1'), undefined)
      const transfer = await queries.findTransfer(tx, transferId)
      assertSameValues([transfer?.requestId, typeof transfer?.callId], ['r1', 'number'])
      const period = { accountId, fromMs: nowMs, toMs: nowMs + 1 }
      assertSameValues(await queries.reconcile(tx, period), {
        logMicros: 2000n,
        ledgerMicros: 2000n,
        billedCalls: 2,
        charges: 2,
      })
      const ofOther = await queries.reconcile(tx, { ...period, projectId: 'other' })
      assertSameValues([ofOther.billedCalls, ofOther.logMicros], [0, 0n])
      assert.equal((await queries.reconcile(tx, { ...period, accountId: 'x' })).logMicros, 0n)
    })
  },

  'the ledger audit reports each violation': async (fixture: StoreFixture) => {
    const { store, project } = fixture
    const { db } = store
    await fundProject(fixture, 10_000n)
    await store.write((tx) => chargeCall(tx, fixture, 'R1'))
    for (const rule of auditRuleNames)
      assertSameValues(await queries.findAuditViolations(db, rule, nowMs), [], rule)
    assertSameValues(
      (await auditLedger(db, nowMs)).filter(({ ok }) => !ok),
      [],
    )
    const { projectId } = project
    const ledger = queries.budgetLedger(projectId)
    await db
      .updateTable('ledgers')
      .set({ balanceMicros: 9001n, reservedMicros: 3n })
      .where('ledger', '=', ledger)
      .execute()
    await db.updateTable('calls').set({ costMicros: 999n }).execute()
    const attempt = {
      projectId,
      requestId: 'r9',
      keyId: 'k',
      action: 'a',
      fingerprint: hash,
      token: 't',
    }
    await store.write((tx) =>
      tx.attempts.insert({
        ...attempt,
        reservedMicros: 2n,
        deadlineMs: nowMs - 40_000,
        windowStartMs: nowMs,
      }),
    )
    await store.write(async (tx) => void (await chargeCall(tx, fixture, 'unlogged')))
    await db.deleteFrom('calls').where('requestId', '=', 'unlogged').execute()
    await db
      .insertInto('galleries')
      .values({ galleryId: projectId, accountId: fixture.accountId, subjectCount: 1 })
      .execute()
    const expected: Partial<Record<string, RegExp>> = {
      unbalanced: /has the balance 8001, but its postings sum to 8000/u,
      misbilled: /charges 1000 for request r1, but the log has 999 for R1/u,
      misreserved: /has 3 reserved, but its running calls need 2/u,
      overdue: /request r9 was due 40000 ms ago/u,
      unaccounted: /has 18001 in its ledgers, but its payments minus its charges are 18000/u,
      unlogged: /for request unlogged has no log row/u,
      incomplete: /has the counts 1 subjects and 0/u,
    }
    for (const rule of auditRuleNames) {
      const lines = await queries.findAuditViolations(db, rule, nowMs)
      const pattern = expected[rule]
      if (!pattern) assertSameValues(lines, [], rule)
      else assert.match(lines.join('; '), pattern, rule)
    }
    const broken = (await auditLedger(db, nowMs)).filter(({ ok }) => !ok).map(({ name }) => name)
    assertSameValues(broken, ['L1', 'L2', 'L4', 'L5', 'L9'])
  },

  'amounts whose sum exceeds 64 bits are audited and summed exactly': async (
    fixture: StoreFixture,
  ) => {
    const { store, project, accountId } = fixture
    const { projectId } = project
    const target = { accountId, projectId }
    await store.write(async (tx) => {
      await topUp(tx, accountId, microsMax, nowMs)
      for (const amountMicros of [microsMax, -microsMax, microsMax, -1n])
        await allocate(tx, target, amountMicros, nowMs)
      await topUp(tx, accountId, microsMax - 1n, nowMs)
    })
    assertSameValues(
      (await auditLedger(store.db, nowMs)).filter(({ ok }) => !ok),
      [],
    )
    const find = (tx: ReadTx) => queries.findProjectSummaries(tx, accountId, projectId)
    const [summary] = await store.read(find)
    assertSameValues(summary?.allocatedMicros, microsMax - 1n)
    await store.db
      .updateTable('ledgers')
      .set({ balanceMicros: microsMax - 2n })
      .where('ledger', '=', queries.budgetLedger(projectId))
      .execute()
    for (const rule of ['unbalanced', 'unaccounted'] as const)
      assertSameValues((await queries.findAuditViolations(store.db, rule, nowMs)).length, 1, rule)
  },

  'money is read exactly, and other numbers beyond 2^53 are rejected': async ({
    store,
    accountId,
  }: StoreFixture) => {
    const set = (balanceMicros: bigint, headSeq: number) =>
      store.db
        .updateTable('ledgers')
        .set({ balanceMicros, headSeq })
        .where('ledger', '=', queries.walletLedger(accountId))
        .execute()
    await set(2n ** 63n - 1n, 2 ** 53 - 1)
    const read = () =>
      store.db
        .selectFrom('ledgers')
        .select(['balanceMicros', 'headSeq'])
        .orderBy('ledger', 'desc')
        .limit(1)
        .execute()
    assertSameValues(await read(), [{ balanceMicros: 2n ** 63n - 1n, headSeq: 2 ** 53 - 1 }])
    await store.db
      .updateTable('ledgers')
      .set((row) => ({ headSeq: row('headSeq', '+', 1) }))
      .execute()
    await assert.rejects(read(), RangeError)
  },
}
