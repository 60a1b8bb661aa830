import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReadTx } from '../../../src/store/database.ts'
import { countTransfers, findTransfers } from '../../../src/store/billing/ledger-transfers.ts'
import { countLoggedCalls, searchCalls, searchLatencies } from '../../../src/store/gate/calls.ts'
import { onBothEngines, onSqlite, withProjects } from '../../support/plans/explain-reads.ts'
import { combine, sorted } from '../../support/plans/plan-checks.ts'

const sourceOf = (tx: ReadTx, isShared: boolean) =>
  ({ read: async (job) => job(tx), isShared }) satisfies Parameters<typeof searchCalls>[0]

/** Whether a statement only changes settings of its transaction. */
const isSettings = (sql: string) => sql.startsWith('select set_config(')

/** The condition of an index that finds the rows of each project. */
const ofEachProject = /Index Cond: \(\(?"projectId" = ANY \(ARRAY\[projects."projectId"\]\)/u

// PostgreSQL would read the calls of all accounts in the order of time, and test each of them.
test('PostgreSQL reads the log of an account by the index of each of its projects', () =>
  onBothEngines(async ({ explain, isPostgres }) => {
    if (!isPostgres) return
    const filters = combine({
      decided: [
        {},
        { code: 'OK' },
        { result: 'ok' },
        { outcome: 'match' },
        { code: 'NO_FACE_FOUND' },
        { result: 'failed' },
        { outcome: 'spoof' },
        { nearMiss: true },
        { action: 'svc.verify' },
      ],
      fromMs: [undefined, 1],
      after: [undefined, { atMs: 5, callId: 1 }],
      isAscending: [false, true],
    })
    for (const { decided, fromMs, after, isAscending } of filters) {
      const filter = { accountId: 'a', ...decided, fromMs }
      const page = { ...filter, after, isAscending, limit: 51 }
      const all = { ...filter, limit: 10_001 }
      const statements = [
        ...(await explain((tx) => searchCalls(sourceOf(tx, true), page))),
        ...(await explain((tx) => searchLatencies(sourceOf(tx, true), all))),
        ...(await explain((tx) => countLoggedCalls(sourceOf(tx, true), filter))),
      ].filter(({ sql }) => !isSettings(sql))
      assert.equal(statements.length, 3)
      for (const [index, { sql, plan }] of statements.entries()) {
        const description = `${sql}\n${plan}`
        assert.match(plan, /"calls_\w*projectId_(?:\w+_)?atMs_idx\d*"/u, description)
        assert.match(plan, ofEachProject, description)
        // The policy of rows does not compare each row with each project of the account.
        assert.match(plan, /hashed SubPlan/u, description)
        assert.doesNotMatch(plan, /"projectId" = ANY \(\$/u, description)
        // No index by time has this order, whatever the statistics.
        assert.match(sql, /order by "projectId" (?:asc|desc), "atMs"/u)
        assert.doesNotMatch(plan, /"calls_(?!\w*projectId)\w*atMs_idx/u, description)
        // A count stops at its limit, and does not sort the calls of all projects.
        if (index > 0) assert.doesNotMatch(plan.split('Nested Loop')[0] ?? '', sorted, description)
      }
    }
  }))

// It would otherwise read the calls of all accounts in the order of time.
test('SQLite reads the log of an account by the indexes of each of its projects', () =>
  onSqlite(async ({ explain }) => {
    const filters = combine({
      decided: [
        [{}, 'calls_by_project'],
        [{ result: 'failed' }, 'calls_failed_by_time'],
        [{ code: 'NO_FACE_FOUND' }, 'calls_failed'],
        [{ outcome: 'spoof' }, 'calls_without_success'],
        [{ nearMiss: true }, 'calls_near_miss'],
        [{ action: 'svc.verify' }, 'calls_by_action'],
        [{ result: 'ok' }, 'calls_by_project', 'in steps'],
        [{ outcome: 'match' }, 'calls_by_project', 'in steps'],
        [{ nearMiss: false }, 'calls_by_project', 'in steps'],
        [{ action: 'svc.verify', result: 'ok' }, 'calls_by_action', 'in steps'],
        [{ action: 'svc.verify', result: 'failed' }, 'calls_failed_by_time', 'in steps'],
        [{ action: 'svc.verify', code: 'NO_FACE_FOUND' }, 'calls_failed', 'in steps'],
        [{ outcome: 'spoof', code: 'NO_FACE_FOUND' }, 'calls_without_success', 'in steps'],
        [{ outcome: 'spoof', nearMiss: true }, 'calls_near_miss', 'in steps'],
      ] as const,
      fromMs: [undefined, 1],
      isAscending: [false, true],
    })
    for (const { decided, fromMs, isAscending } of filters) {
      const [conditions, index, steps] = decided
      const filter = { accountId: 'a', ...conditions, fromMs, isAscending }
      const source = (tx: ReadTx) => sourceOf(withProjects(tx, ['p', 'q']), false)
      for (const statements of [
        await explain((tx) => searchCalls(source(tx), { ...filter, limit: 51 })),
        await explain((tx) => countLoggedCalls(source(tx), filter)),
      ]) {
        const ofCalls = statements.filter(({ sql }) => sql.includes('from "calls"'))
        // An index that finds no other calls needs no steps: a project without such calls costs one seek.
        const ends = ofCalls.filter(({ sql }) => sql.includes(' offset '))
        assert.deepEqual([ofCalls.length, ends.length], steps ? [4, 2] : [2, 0])
        for (const { sql, plan } of ofCalls) {
          const search = new RegExp(`^SEARCH calls USING (?:COVERING )?INDEX ${index} `, 'u')
          assert.match(plan, search, sql)
          assert.match(plan, / \(projectId=\?/u, sql)
          assert.doesNotMatch(plan, sorted, sql)
          assert.doesNotMatch(sql, /"accountId"/u, 'the projects are those of the account')
        }
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
      ].filter(({ sql }) => !isSettings(sql))
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
