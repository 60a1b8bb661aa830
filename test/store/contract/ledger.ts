import assert from 'node:assert/strict'
import { auditLedger } from '../../../src/billing/audit-ledger.ts'
import type { AuditRuleName } from '../../../src/store/billing/ledger-audit.ts'
import { queries } from './tracked-queries.ts'
import { chargeCall, fundProject } from './ledger-rows.ts'
import { compareNullable, nowMs, assertSameValues, type StoreFixture } from './store-fixture.ts'

const hash = Buffer.alloc(32, 1)

const auditQueries: readonly AuditRuleName[] = [
  ...(['unbalanced', 'misbilled', 'negative', 'misreserved', 'overdue', 'leaking'] as const),
  ...(['misrouted', 'unfrozen', 'fractional', 'unlogged', 'halved'] as const),
]

export const ledgerContract = {
  'the ledger moves only what is there': async (world: StoreFixture) => {
    const { store, project, accountId } = world
    const ledger = queries.budgetLedger(project.projectId)
    await fundProject(world, 1000n)
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
    await store.read(async (reading) => {
      const [facts] = await queries.findProjectSummaries(reading, accountId, project.projectId)
      assert.equal(facts?.allocatedMicros, 1000n)
    })
  },

  'movements of money are found with their calls, and reconcile': async (world: StoreFixture) => {
    const { store, project, accountId } = world
    await fundProject(world, 10_000n)
    const transferId = await store.write((tx) => chargeCall(tx, world, 'R1'))
    await store.write((tx) => chargeCall(tx, world, 'R2'))
    const again = store.write((tx) => chargeCall(tx, world, 'r1'))
    await assert.rejects(again, /unique/iu, 'one charge for a request')
    await store.read(async (reading) => {
      const found = async (filter: object) =>
        (await queries.findTransfers(reading, { accountId, limit: 9, ...filter })).map(
          ({ kind, amountMicros }) => `${kind} ${amountMicros}`,
        )
      const all = ['charge 1000', 'charge 1000', 'allocate 10000', 'topUp 20000']
      assertSameValues(await found({}), all)
      assertSameValues(await found({ kind: 'topUp' }), ['topUp 20000'])
      assertSameValues(
        await found({ kind: 'charge', projectId: project.projectId }),
        all.slice(0, 2),
      )
      assertSameValues(await found({ fromMs: nowMs + 1, toMs: nowMs + 2 }), ['allocate 10000'])
      const [, after] = await queries.findTransfers(reading, { accountId, limit: 2 })
      assertSameValues(await found({ after, limit: 1 }), ['allocate 10000'])
      const one = await queries.findTransfer(reading, transferId)
      assertSameValues([one?.requestId, typeof one?.callId], ['r1', 'number'])
      const of = { accountId, fromMs: nowMs, toMs: nowMs + 1 }
      assertSameValues(await queries.reconcile(reading, of), {
        logMicros: 2000n,
        ledgerMicros: 2000n,
        billedCalls: 2,
        charges: 2,
      })
      assert.equal((await queries.reconcile(reading, { ...of, accountId: 'x' })).logMicros, 0n)
    })
  },

  'the books say what is wrong with them': async (world: StoreFixture) => {
    const { store, project } = world
    const { db } = store
    await fundProject(world, 10_000n)
    await store.write((tx) => chargeCall(tx, world, 'R1'))
    for (const question of auditQueries)
      assertSameValues(await queries.findAuditViolations(db, question, nowMs), [], question)
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
    const due = {
      projectId,
      requestId: 'r9',
      keyId: 'k',
      action: 'a',
      fingerprint: hash,
      token: 't',
    }
    await store.write((tx) =>
      tx.attempts.insert({
        ...due,
        reservedMicros: 2n,
        deadlineMs: nowMs - 40_000,
        windowStartMs: nowMs,
      }),
    )
    await store.write(async (tx) => void (await chargeCall(tx, world, 'unlogged')))
    await db.deleteFrom('calls').where('requestId', '=', 'unlogged').execute()
    await db
      .insertInto('galleries')
      .values({ galleryId: projectId, accountId: world.accountId, subjectCount: 1 })
      .execute()
    const expected: Partial<Record<AuditRuleName, RegExp>> = {
      unbalanced: /holds 8001, its postings sum to 8000/u,
      misbilled: /charges 1000 for request r1, the log says 999 for R1/u,
      misreserved: /has 3 reserved, its running calls 2/u,
      overdue: /request r9 was due 40000 ms ago/u,
      leaking: /holds 18001 of 18000/u,
      unlogged: /for request unlogged has no log row/u,
      halved: /counts 1 subjects and 0/u,
    }
    for (const question of auditQueries) {
      const lines = await queries.findAuditViolations(db, question, nowMs)
      const wanted = expected[question]
      if (!wanted) assertSameValues(lines, [], question)
      else assert.match(lines.join('; '), wanted, question)
    }
    const broken = (await auditLedger(db, nowMs)).filter(({ ok }) => !ok).map(({ name }) => name)
    assertSameValues(broken, ['L1', 'L2', 'L4', 'L5', 'L9'])
  },

  'whole numbers are exact or refused, money is exact': async ({
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
