import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadTx } from '../../../src/store/database.ts'
import { countTransfers, findTransfers } from '../../../src/store/billing/ledger-transfers.ts'
import { countLoggedCalls, searchCalls, searchLatencies } from '../../../src/store/gate/calls.ts'
import { onBothEngines } from '../../support/plans/explain-reads.ts'
import { combine, sorted } from '../../support/plans/plan-checks.ts'

const sourceOf = (tx: ReadTx, isShared: boolean) =>
  ({ read: async (job) => job(tx), isShared }) satisfies Parameters<typeof searchCalls>[0]

/** The condition of an index that finds the rows of each project. */
const ofEachProject = /Index Cond: \(\(?"projectId" = ANY \(ARRAY\[projects."projectId"\]\)/u

// PostgreSQL would read the calls of all accounts in the order of time, and test each of them.
test('PostgreSQL reads the log of an account by the index of each of its projects', () =>
  onBothEngines(async ({ explain, isPostgres }) => {
    if (!isPostgres) return
    const filters = combine({
      decided: [{}, { code: 'OK' }, { result: 'ok' }, { outcome: 'match' }],
      fromMs: [undefined, 1],
      after: [undefined, { atMs: 5, callId: 1 }],
      isDescending: [false, true],
    })
    for (const { decided, fromMs, after, isDescending } of filters) {
      const filter = { accountId: 'a', ...decided, fromMs }
      const page = { ...filter, after, sort: { isDescending }, limit: 51 }
      const all = { ...filter, limit: 10_001 }
      const statements = [
        ...(await explain((tx) => searchCalls(sourceOf(tx, true), page))),
        ...(await explain((tx) => searchLatencies(sourceOf(tx, true), all))),
        ...(await explain((tx) => countLoggedCalls(sourceOf(tx, true), filter))),
      ]
      assert.equal(statements.length, 3)
      for (const [index, { sql, plan }] of statements.entries()) {
        const description = `${sql}\n${plan}`
        assert.match(plan, /"calls_\w*projectId_atMs_idx"/u, description)
        assert.match(plan, ofEachProject, description)
        // The policy of rows does not compare each row with each project of the account.
        assert.match(plan, /hashed SubPlan/u, description)
        assert.doesNotMatch(plan, /"projectId" = ANY \(\$/u, description)
        // No index by time has this order, whatever the statistics.
        assert.match(sql, /order by "projectId" (?:asc|desc), "atMs"/u)
        assert.doesNotMatch(plan, /calls_\w*(?<!projectId_)atMs_idx/u, description)
        // A count stops at its limit, and does not sort the calls of all projects.
        if (index > 0) assert.doesNotMatch(plan.split('Nested Loop')[0] ?? '', sorted, description)
      }
    }
  }))

test('PostgreSQL reads the transfers of an account by the index of its projects and of its wallet', () =>
  onBothEngines(async ({ explain, isPostgres }) => {
    if (!isPostgres) return
    const filters = combine({
      kind: [undefined, 'charge', 'topUp', 'allocate'],
      fromMs: [undefined, 1],
      after: [undefined, { atMs: 5, transferId: 1 }],
      isAscending: [false, true],
    })
    for (const { after, isAscending, ...conditions } of filters) {
      const { kind } = conditions
      const filter = { accountId: 'a', ...conditions }
      const page = { ...filter, after, isAscending, limit: 51 }
      const statements = [
        ...(await explain((tx) => findTransfers(sourceOf(tx, true), page))),
        ...(await explain((tx) => countTransfers(sourceOf(tx, true), filter))),
      ]
      assert.equal(statements.length, 2)
      for (const [index, { sql, plan }] of statements.entries()) {
        const description = `${sql}\n${plan}`
        assert.doesNotMatch(plan, /transfers_by_time/u, description)
        if (kind === undefined || kind === 'charge') {
          assert.match(plan, ofEachProject, description)
          assert.match(sql, /order by "projectId" (?:asc|desc), "t"."atMs"/u)
          // A count stops at its limit, and does not sort the transfers of all projects.
          if (index > 0) assert.doesNotMatch(plan.split('Nested Loop')[0] ?? '', sorted)
        }
        if (kind !== 'charge')
          assert.match(
            plan,
            /Index Cond: \(\(chain = 'wallet:a'[^)]*\) AND \(kind = /u,
            description,
          )
        // The calls are found after the limit: a join would read them for all transfers.
        assert.doesNotMatch(sql, / join "calls"/u)
      }
    }
  }))
