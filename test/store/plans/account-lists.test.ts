import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { runAsAccount, runAsAllAccounts } from '../../../src/lib/account-context.ts'
import { countTransfers, findTransfers } from '../../../src/store/billing/ledger-transfers.ts'
import type { Store, Tx } from '../../../src/store/database.ts'
import {
  countLoggedCalls,
  searchCalls,
  searchLatencies,
  type CallCursor,
} from '../../../src/store/gate/calls.ts'
import { stepRows, type ListSource } from '../../../src/store/lists.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { createMigratedDatabase } from '../../support/database/engine.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'

type TransferPosition = { readonly atMs: number; readonly transferId: number }

const accounts = { a: ['a1', 'a2', 'a3', 'a4'], b: ['b1'], c: [] } as const
const actions = ['svc.detect', 'svc.verify']
const codes = ['OK', 'NO_FACE_FOUND', 'RATE_LIMITED']
const outcomes = ['match', 'no_match', 'spoof'] as const
const callsOf = fc.constantFrom('a1', 'a3', 'b1')
const times = fc.integer({ min: 100, max: 160 })

const randomCall = fc.record({
  projectId: callsOf,
  atMs: times,
  action: fc.constantFrom(...actions),
  code: fc.constantFrom(...codes),
  outcome: fc.option(fc.constantFrom(...outcomes)),
  nearMiss: fc.constantFrom(0 as const, 1 as const),
  keyId: fc.constantFrom('k1', 'k2'),
})

/** The project a2 has more than a step of failures, and no other calls. Many calls have equal times. */
function callRows() {
  const failures = Array.from({ length: stepRows + 200 }, (_, index) => ({
    projectId: 'a2',
    atMs: 100 + (index % 50),
    action: 'svc.detect',
    code: 'NO_FACE_FOUND',
    outcome: null,
    nearMiss: 0 as const,
    keyId: 'k3',
  }))
  const calls = [...failures, ...fc.sample(randomCall, { numRuns: 600, seed: 5 })]
  return calls.map((call, index) => ({
    ...call,
    callId: index + 1,
    requestId: `r${index}`,
    latencyMs: index,
    ...({ costMicros: 0n, meteredMicros: 0n, isReplay: 0, transferId: null } as const),
  }))
}

const randomTransfer = fc.record({
  of: fc.constantFrom('a1', 'a3', 'a4', 'b1'),
  atMs: times,
  kind: fc.constantFrom('topUp' as const, 'allocate' as const, 'charge' as const),
})

function transferRows() {
  const transfers = fc.sample(randomTransfer, { numRuns: 600, seed: 6 })
  return transfers.map(({ of, atMs, kind }, index) => {
    const [wallet, budget] = [`wallet:${of.slice(0, 1)}`, `budget:${of}`]
    return {
      transferId: index + 1,
      atMs,
      kind,
      seq: index + 1,
      requestId: `r${index}`,
      chain: kind === 'charge' ? budget : wallet,
      fromLedger: { topUp: 'external', allocate: wallet, charge: budget }[kind],
      toLedger: { topUp: wallet, allocate: budget, charge: 'revenue:svc.detect' }[kind],
      amountMicros: 1n,
      windowStartMs: 0,
      rowHash: new Uint8Array(32),
      projectId: kind === 'topUp' ? null : of,
    }
  })
}

const calls = callRows()
const transfers = transferRows()

async function fill({ build, run }: Tx): Promise<void> {
  for (const [accountId, projectIds] of Object.entries(accounts)) {
    await run(build.insertInto('accounts').values({ accountId, name: accountId, createdAtUtc: '' }))
    const ledgers = [`wallet:${accountId}`, ...projectIds.map((projectId) => `budget:${projectId}`)]
    for (const projectId of projectIds) {
      const project = { projectId, accountId, name: projectId, galleryMode: 'isolated' } as const
      await run(build.insertInto('projects').values({ ...project, createdAtUtc: '' }))
    }
    for (const ledger of ledgers)
      await run(build.insertInto('ledgers').values({ ledger, accountId }))
  }
  for (let from = 0; from < calls.length; from += 1000)
    await run(build.insertInto('calls').values(calls.slice(from, from + 1000)))
  await run(build.insertInto('ledgerTransfers').values(transfers))
}

/** Runs a test on both engines with these calls and transfers. */
async function onBothStores(work: (store: Store) => Promise<void>): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-lists-'))
  await onStore(await openStore(dataDir), work)
  await rm(dataDir, { recursive: true })
  if (postgresSkipReason !== undefined) return
  await using database = await createMigratedDatabase()
  await onStore(await openStore({ dataDir: '', databaseUrl: database.url }), work)
}

async function onStore(store: Store, work: (store: Store) => Promise<void>): Promise<void> {
  try {
    await runAsAllAccounts(() => store.write(fill))
    await work(store)
  } finally {
    await store.close()
  }
}

const accountIds = fc.constantFrom('a' as const, 'a' as const, 'b' as const, 'c' as const)
/** A value, or none in half of the filters. */
const optional = <Value>(...values: readonly Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 1 })

const order = {
  fromMs: optional(100, 101, 130, 160),
  toMs: optional(100, 131, 160, 161),
  isAscending: fc.boolean(),
  limit: fc.constantFrom(1, 7, 51, 400),
}
const callFilters = fc.record({
  accountId: accountIds,
  projectId: optional('a1', 'a2', 'b1'),
  keyId: optional('k1', 'k3'),
  action: optional(...actions),
  code: optional(...codes),
  result: optional('ok' as const, 'failed' as const),
  outcome: optional(...outcomes),
  nearMiss: optional(true, false),
  requestId: fc.option(fc.constantFrom('r1', 'r5300'), { nil: undefined, freq: 9 }),
  requestIdPrefix: fc.option(fc.constantFrom('r52', 'R53'), { nil: undefined, freq: 9 }),
  ...order,
})
const transferFilters = fc.record({
  accountId: accountIds,
  projectId: optional('a1', 'a4', 'b1'),
  kind: optional('topUp' as const, 'allocate' as const, 'charge' as const),
  ...order,
})

type Values = Readonly<Record<string, unknown>>

/** Whether a row has each value of a filter that is a value of a column. */
function hasValues(row: Values, filter: Values): boolean {
  return Object.entries(filter).every(
    ([name, value]) => value === undefined || !(name in row) || row[name] === value,
  )
}

type OwnedRow = {
  readonly atMs: number
  readonly projectId: string | null
  readonly chain?: string
}
type ListedPeriod = { readonly fromMs: number | undefined; readonly toMs: number | undefined }

function isListed(
  row: OwnedRow,
  accountId: string,
  { fromMs = 0, toMs = 999 }: ListedPeriod,
): boolean {
  const owner = row.projectId?.slice(0, 1) ?? row.chain?.slice('wallet:'.length)
  return owner === accountId && row.atMs >= fromMs && row.atMs < toMs
}

type Filter<Filters> = Filters extends fc.Arbitrary<infer Value> ? Value : never

function findExpectedCalls({ accountId, isAscending, ...filter }: Filter<typeof callFilters>) {
  const { result, nearMiss, requestIdPrefix = '', ...values } = filter
  const found = calls.filter(
    (call) =>
      isListed(call, accountId, filter) &&
      (result === undefined || (result === 'ok') === (call.code === 'OK')) &&
      (nearMiss === undefined || nearMiss === (call.nearMiss === 1)) &&
      call.requestId.startsWith(requestIdPrefix.toLowerCase()) &&
      hasValues(call, values),
  )
  const sorted = found.toSorted((a, b) => a.atMs - b.atMs || a.callId - b.callId)
  return (isAscending ? sorted : sorted.toReversed()).map(({ callId }) => callId)
}

/** Reads all pages of a list, at most eight of a long one. */
async function readAll<Position>(
  size: { readonly limit: number; readonly expected: readonly number[] },
  readPage: (page: { after: Position | undefined; limit: number }) => Promise<readonly Position[]>,
): Promise<Position[]> {
  const rows: Position[] = []
  const limit = Math.max(size.limit, Math.ceil(size.expected.length / 8))
  for (let isEnd = false; !isEnd;) {
    const page = await readPage({ after: rows.at(-1), limit })
    assert.ok(page.length <= limit)
    rows.push(...page)
    isEnd = page.length < limit
  }
  return rows
}

const runs = Number(process.env['LIST_RUNS'] ?? 60)

test('Each list and count of calls has the calls that match, in their order and each once', () =>
  onBothStores((store) =>
    fc.assert(
      fc.asyncProperty(callFilters, async ({ limit, ...filter }) => {
        const expected = findExpectedCalls({ ...filter, limit })
        await runAsAccount(filter.accountId, async () => {
          const found = await readAll<CallCursor>({ limit, expected }, (page) =>
            searchCalls(store, { ...filter, ...page }),
          )
          assert.deepEqual(
            found.map(({ callId }) => callId),
            expected,
          )
          const first = await searchCalls(store, { ...filter, limit })
          assert.deepEqual(
            first.map(({ callId }) => callId),
            expected.slice(0, limit),
          )
          assert.equal((await countLoggedCalls(store, filter)).total, expected.length)
          const latencies = await searchLatencies(store, { ...filter, limit })
          const ids = new Set(latencies.map(({ callId }) => callId))
          assert.deepEqual(
            [latencies.length, ids.size],
            [ids.size, Math.min(limit, expected.length)],
          )
          assert.ok([...ids].every((callId) => expected.includes(callId)))
        })
      }),
      { numRuns: runs, seed: 7 },
    ),
  ))

test('Each list and count of transfers has those that match, in their order and each once', () =>
  onBothStores((store) =>
    fc.assert(
      fc.asyncProperty(transferFilters, async ({ limit, ...filter }) => {
        const { accountId, isAscending, ...values } = filter
        const matching = transfers.filter(
          (row) => isListed(row, accountId, filter) && hasValues(row, values),
        )
        const sorted = matching.toSorted((a, b) => a.atMs - b.atMs || a.transferId - b.transferId)
        const ids = sorted.map(({ transferId }) => transferId)
        const expected = isAscending ? ids : ids.toReversed()
        await runAsAccount(accountId, async () => {
          const found = await readAll<TransferPosition>({ limit, expected }, (page) =>
            findTransfers(store, { ...filter, ...page }),
          )
          assert.deepEqual(
            found.map(({ transferId }) => transferId),
            expected,
          )
          assert.equal((await countTransfers(store, filter)).total, expected.length)
        })
      }),
      { numRuns: runs, seed: 8 },
    ),
  ))

test('SQLite reads no step of a project beyond the end of a page', () =>
  onBothStores(async (store) => {
    if (store.isShared) return
    let reads = 0
    const read: ListSource['read'] = (job) => {
      reads += 1
      return store.read(job)
    }
    // The project a2 has more than a step of other calls, up to the start of the log.
    for (const isAscending of [false, true]) {
      reads = 0
      const filter = { accountId: 'a', result: 'ok', isAscending, limit: 10 } as const
      const found = await searchCalls({ read, isShared: false }, filter)
      assert.equal(found.length, 10)
      assert.equal(reads, 1 + accounts.a.length, 'the projects, and one step of each')
    }
  }))
