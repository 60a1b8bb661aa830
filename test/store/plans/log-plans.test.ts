import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadTx } from '../../../src/store/database.ts'
import { countLoggedCalls, searchCalls, searchLatencies } from '../../../src/store/gate/calls.ts'
import { onBothEngines } from '../../support/plans/explain-reads.ts'
import { combine, sorted } from '../../support/plans/plan-checks.ts'

const sourceOf = (tx: ReadTx, isShared: boolean) =>
  ({ read: async (job) => job(tx), isShared }) satisfies Parameters<typeof searchCalls>[0]

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
        assert.match(plan, /Index Cond: \(\(?"projectId" = projects."projectId"/u, description)
        assert.doesNotMatch(plan, /calls_\w*(?<!projectId_)atMs_idx/u, description)
        // A count stops at its limit, and does not sort the calls of all projects.
        if (index > 0) assert.doesNotMatch(plan.split('Nested Loop')[0] ?? '', sorted, description)
      }
    }
  }))
