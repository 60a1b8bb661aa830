import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { allocate, LedgerError, reserve, topUp } from '../../src/billing/ledger.ts'
import { microsMax } from '../../src/lib/money.ts'
import type { Tx } from '../../src/store/database.ts'
import { isOnPostgres } from '../support/database/engine.ts'
import { chargeCall } from '../support/billing/charge-call.ts'
import {
  createLedgerSnapshot,
  openLedger,
  type TestLedger,
  type LedgerSnapshot,
} from '../support/billing/test-ledger.ts'

let snapshot: LedgerSnapshot
before(async () => {
  snapshot = await createLedgerSnapshot()
})

const balances = async ({ query }: TestLedger) =>
  (await query('select "balanceMicros" from ledgers order by ledger')).map(
    (row) => row['balanceMicros'],
  )

test('Amounts at the limits of doubles and of 64-bit integers are exact', async () => {
  for (const micros of [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, microsMax]) {
    await using ledger = await openLedger(snapshot)
    const { accountId } = snapshot.project
    await ledger.runTransaction((tx) => topUp(tx, accountId, micros, 1))
    await ledger.runTransaction((tx) => allocate(tx, snapshot.project, micros - 1n, 1))
    assert.deepEqual(await balances(ledger), [micros - 1n, 1n])
  }
})

test('Invalid and too large amounts are rejected and change nothing', async () => {
  await using ledger = await openLedger(snapshot)
  const { accountId } = snapshot.project
  for (const micros of [0n, -1n, microsMax + 1n, 2n ** 64n])
    await assert.rejects(
      () => ledger.runTransaction((tx) => topUp(tx, accountId, micros, 1)),
      LedgerError,
    )
  await ledger.runTransaction((tx) => topUp(tx, accountId, microsMax, 1))
  await assert.rejects(
    () => ledger.runTransaction((tx) => topUp(tx, accountId, 1n, 1)),
    LedgerError,
  )
  await assert.rejects(
    () => ledger.runTransaction((tx) => allocate(tx, snapshot.project, -1n, 1)),
    LedgerError,
  )
  assert.deepEqual(await balances(ledger), [0n, microsMax])
})

test('The budget of a deleted project accepts no money', async () => {
  await using ledger = await openUsedLedger()
  const before = await balances(ledger)
  const { projectId } = snapshot.project
  await ledger.runTransaction(({ build, run }) => {
    const change = build.updateTable('projects').set({ deletedAtUtc: '2026-01-01T00:00:00.000Z' })
    return run(change.where('projectId', '=', projectId))
  })
  await assert.rejects(
    () => ledger.runTransaction((tx) => allocate(tx, snapshot.project, 1n, 5)),
    /The project was deleted/u,
  )
  assert.deepEqual(await balances(ledger), before)
})

function callOf(projectId: string, requestId: string) {
  return { projectId, keyId: 'k', requestId, action: 'svc.echo', windowStartMs: 1e12 }
}

/** Opens a ledger with a top-up, an allocation and three charges. */
async function openUsedLedger(): Promise<TestLedger> {
  const ledger = await openLedger(snapshot)
  const { accountId, projectId } = snapshot.project
  await ledger.runTransaction((tx) => topUp(tx, accountId, 10_000n, 1))
  await ledger.runTransaction((tx) => allocate(tx, snapshot.project, 9000n, 2))
  for (const requestId of ['a', 'b', 'c'])
    await ledger.runTransaction((tx) =>
      chargeCall(tx, { ...callOf(projectId, requestId), nowMs: 4, amountMicros: 1000n }),
    )
  return ledger
}

const violationsOf = async (ledger: TestLedger) =>
  (await ledger.audit(1000)).filter(({ ok }) => !ok).map(({ name, detail }) => `${name} ${detail}`)

test('The ledger is append-only', async () => {
  await using ledger = await openUsedLedger()
  const assertRejected = (change: (tx: Tx) => Promise<unknown>) =>
    assert.rejects(ledger.runTransaction(change), /append-only/u)
  await assertRejected((tx) => tx.run(tx.build.updateTable('ledgerTransfers').set({ atMs: 0 })))
  await assertRejected((tx) => tx.run(tx.build.deleteFrom('ledgerTransfers')))
  assert.deepEqual(await violationsOf(ledger), [])
})

test('A request cannot be charged twice', async () => {
  await using ledger = await openUsedLedger()
  const { projectId } = snapshot.project
  const duplicate = { ...callOf(projectId, 'a'), nowMs: 5, amountMicros: 1n }
  await assert.rejects(() => ledger.runTransaction((tx) => chargeCall(tx, duplicate)), /unique/iu)
})

test('Reserved money cannot be reserved again or transferred', async () => {
  await using ledger = await openUsedLedger()
  const { projectId } = snapshot.project
  assert.equal(await ledger.runTransaction((tx) => reserve(tx, projectId, 5500n)), true)
  assert.equal(await ledger.runTransaction((tx) => reserve(tx, projectId, 501n)), false)
  await assert.rejects(
    () => ledger.runTransaction((tx) => allocate(tx, snapshot.project, -501n, 1)),
    LedgerError,
  )
  assert.equal(await ledger.runTransaction((tx) => reserve(tx, projectId, 500n)), true)
})

/** Manipulations, and the rule that must report each of them with the row, if there is one. */
const manipulations: readonly (readonly [string, string, RegExp])[] = [
  [
    'a smaller charge',
    'update "ledgerTransfers" set "amountMicros" = 1 where "transferId" = 4',
    /L7 transfer 4 /u,
  ],
  [
    'a smaller charge',
    'update "ledgerTransfers" set "amountMicros" = 1 where "transferId" = 4',
    /L1 budget:/u,
  ],
  [
    'a changed time',
    'update "ledgerTransfers" set "atMs" = 0 where "transferId" = 3',
    /L7 transfer 3 /u,
  ],
  ['a deleted charge', 'delete from "ledgerTransfers" where "transferId" = 4', /L7 transfer 5 /u],
  [
    'a deleted last charge',
    'delete from "ledgerTransfers" where "transferId" = 5',
    /L7 budget:.* ends at/u,
  ],
  [
    'a higher budget balance',
    `update ledgers set "balanceMicros" = 9999 where ledger like 'budget:%'`,
    /L1 budget:/u,
  ],
  [
    'a reservation without a call',
    `update ledgers set "reservedMicros" = 5 where ledger like 'budget:%'`,
    /L4 budget:/u,
  ],
  ['a deleted log row', `delete from calls where "requestId" = 'b'`, /L9 transfer 4 /u],
  [
    'a lower cost in the log',
    `update calls set "costMicros" = 1 where "requestId" = 'b'`,
    /L2 transfer 4 /u,
  ],
  [
    'changed ledgers',
    `update "ledgerTransfers" set "toLedger" = 'revenue:x', "fromLedger" = 'external' where "transferId" = 5`,
    /L5 transfer 5 /u,
  ],
  [
    'a missing trigger',
    isOnPostgres()
      ? 'drop trigger "ledgerTransfers_no_delete" on "ledgerTransfers"'
      : 'drop trigger ledgerTransfers_no_delete',
    /L6 .*no_delete/u,
  ],
]

for (const [manipulation, sql, expected] of manipulations)
  test(`The audit reports ${manipulation} (${expected.source.slice(0, 2)})`, async () => {
    await using ledger = await openUsedLedger()
    await ledger.tamper(sql)
    const violations = await violationsOf(ledger)
    assert.ok(
      violations.some((line) => expected.test(line)),
      violations.join('\n'),
    )
  })
