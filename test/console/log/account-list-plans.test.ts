import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTransfers, findTransfers } from '../../../src/store/billing/ledger-transfers.ts'
import { countAuditEntries, searchAuditEntries } from '../../../src/store/console/audit-log.ts'
import type { ReadTx } from '../../../src/store/database.ts'
import type { ListSource } from '../../../src/store/lists.ts'
import { onSqlite, withProjects } from '../../support/plans/explain-reads.ts'
import { assertBounded, assertIndexed, combine } from '../../support/plans/plan-checks.ts'

/** A database whose reads are one after another in the event loop. */
const sourceOf = (tx: ReadTx): ListSource => ({ read: async (job) => job(tx), isShared: false })

test('Each list of audit entries is read in its order, from its position to the end of its period', () =>
  onSqlite(async ({ explain }) => {
    const filters = combine({
      userId: [undefined, 'u'],
      auditAction: [undefined, 'key.create'],
      kind: [undefined, 'changes', 'playground', 'commandLine'],
      fromMs: [undefined, 1],
      toMs: [undefined, 9],
      isAscending: [false, true],
      after: [undefined, { atMs: 5, auditId: 1 }],
    })
    for (const { after, isAscending, ...filter } of filters) {
      const { userId, auditAction, kind, fromMs, toMs } = filter
      const conditions = { accountId: 'a', ...filter }
      const page = { ...conditions, isAscending, after, limit: 51 }
      const ofUser = userId ?? (kind === 'commandLine' ? null : undefined)
      const ofAction = auditAction === undefined ? [] : ['auditAction']
      const columns = ['accountId', ...(ofUser === undefined ? ofAction : ['userId'])]
      const isLimited = (fromMs ?? toMs) !== undefined
      const found = await explain((tx) => searchAuditEntries(sourceOf(tx), page))
      const counted = await explain((tx) => countAuditEntries(sourceOf(tx), conditions))
      for (const statement of [...found, ...counted]) assertBounded(statement, 'atMs')
      assertIndexed(found, [...columns, ...(isLimited || after ? ['atMs'] : [])])
      assertIndexed(counted, [...columns, ...(isLimited ? ['atMs'] : [])])
      // A step ends after a number of rows of its index, whatever it searches.
      for (const [end] of [found, counted]) {
        assert.match(end?.sql ?? '', / offset /u)
        assert.match(end?.plan ?? '', /^SEARCH auditLog USING COVERING INDEX/u)
        assert.doesNotMatch(end?.sql ?? '', /"userName"/u)
        const isTested = ofUser !== undefined && /"auditAction"/u.test(end?.sql ?? '')
        assert.ok(!isTested, end?.sql)
      }
    }
  }))

test('A page of transfers is read in its order, from its position to the end of its period', () =>
  onSqlite(async ({ explain }) => {
    const filters = combine({
      condition: [{ projectId: undefined }, { projectId: 'p' }],
      kind: [undefined, 'charge', 'topUp'],
      fromMs: [undefined, 1],
      toMs: [undefined, 9],
      isAscending: [false, true],
    })
    for (const { condition, ...order } of filters) {
      const page = { accountId: 'a', ...condition, ...order, after: { atMs: 5, transferId: 1 } }
      const explainTransfers = async (read: (source: ListSource) => Promise<unknown>) =>
        (await explain((tx) => read(sourceOf(withProjects(tx, ['p']))))).filter(({ sql }) =>
          sql.includes('from "ledgerTransfers"'),
        )
      const found = await explainTransfers((source) =>
        findTransfers(source, { ...page, limit: 51 }),
      )
      const counted = await explainTransfers((source) => countTransfers(source, page))
      const isOfWallet = ({ sql }: { sql: string }) => sql.includes('"t"."chain" =')
      const isTopUps = order.kind === 'topUp'
      const hasTopUps = isTopUps || (order.kind ?? condition.projectId) === undefined
      for (const statements of [found, counted]) {
        const ofWallet = statements.filter(isOfWallet)
        const ofProject = statements.filter((one) => !isOfWallet(one))
        assert.deepEqual([ofWallet.length > 0, ofProject.length > 0], [hasTopUps, !isTopUps])
        assertIndexed(ofWallet, ['chain', 'kind', 'atMs'])
        assertIndexed(ofProject, ['projectId', 'atMs'])
        for (const statement of statements) assertBounded(statement, 't"."atMs')
        // An index that finds no other transfers needs no steps.
        const ends = statements.filter(({ sql }) => sql.includes(' offset '))
        const isTested = isTopUps ? condition.projectId !== undefined : order.kind === 'charge'
        assert.equal(ends.length, isTested ? 1 : 0)
        // A step ends after a number of rows of its index, whatever it searches.
        for (const { sql, plan } of ends) {
          assert.doesNotMatch(sql, /"accountId"/u)
          assert.match(plan, /^SEARCH t USING COVERING INDEX/u)
        }
      }
    }
  }))
