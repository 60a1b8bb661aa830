import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from 'pg'
import { countTransfers, findTransfers } from '../../../src/store/billing/ledger-transfers.ts'
import type { ReadTx, Tx } from '../../../src/store/database.ts'
import { countLoggedCalls, searchCalls } from '../../../src/store/gate/calls.ts'
import type { ListSource } from '../../../src/store/lists.ts'
import { queryBuilder } from '../../../src/store/postgres/connection/kysely-driver.ts'
import { addEvent } from '../../../src/store/webhooks/events.ts'
import { createMigratedDatabase } from '../../support/database/engine.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'

const skipOptions = postgresSkipReason === undefined ? {} : { skip: postgresSkipReason }

/** The large account, and 300 accounts whose projects have one call and one transfer each. */
const statements = [
  `insert into accounts select 'a' || i, 'a' || i, '' from generate_series(0, 300) i`,
  `insert into projects ("projectId", "accountId", name, "galleryMode", "createdAtUtc")
    select 'p' || i, 'a' || i, 'p', 'isolated', '' from generate_series(0, 300) i`,
  `insert into ledgers (ledger, "accountId") select 'budget:p' || i, 'a' || i
    from generate_series(0, 300) i`,
  `create temporary table rows as
    select i, 'p' || case when i % 101 = 0 then i / 101 else 0 end as "projectId"
    from generate_series(1, 30300) i`,
  `insert into calls ("atMs", "keyId", "projectId", "requestId", action, code, "latencyMs",
      "costMicros", "isReplay", outcome, "nearMiss")
    select i, 'k' || "projectId", "projectId", i::text, 'svc.identify',
      case when i % 2 = 0 then 'NO_FACE_FOUND' else 'OK' end, 1, 0, 0, 'spoof', 1 from rows`,
  `insert into "ledgerTransfers" (chain, seq, kind, "fromLedger", "toLedger", "amountMicros",
      "atMs", "projectId", "requestId", "windowStartMs", "rowHash")
    select 'budget:' || "projectId", i, 'charge', 'budget:' || "projectId", 'revenue', 1,
      i, "projectId", i::text, 0, decode(repeat('00', 32), 'hex') from rows`,
  `insert into webhooks ("webhookId", "projectId", url, events, "createdAtUtc")
    select 'w' || i, 'p' || i, '', '["key.expiring"]', '' from generate_series(0, 1) i`,
  `insert into "webhookDeliveries" ("eventId", "webhookId", "projectId", type, data,
      "createdAtMs", "queuedAtMs")
    select 'e' || i, 'w0', 'p0', 'key.expiring', '{}', i, i from generate_series(1, 30000) i`,
  'analyze',
]

type PlanNode = {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

/** The number of calls, transfers and deliveries that a plan read. */
function rowsRead(node: PlanNode): number {
  const isLarge = /^calls|^ledgerTransfers$|^webhookDeliveries$/u.test(node['Relation Name'] ?? '')
  const rows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)
  const below = (node.Plans ?? []).map(rowsRead).reduce((sum, count) => sum + count, 0)
  return below + (isLarge ? rows * node['Actual Loops'] : 0)
}

test(
  'PostgreSQL reads only the rows of a page, of a count or of an outbox, however many there are',
  skipOptions,
  async () => {
    await using database = await createMigratedDatabase()
    const client = new Client({ connectionString: database.url })
    await client.connect()
    await using _ = { [Symbol.asyncDispose]: () => client.end() }
    await client.query(`select set_config('facegate.account', '*', false)`)
    for (const statement of statements) await client.query(statement)
    const countReads = async (
      work: (source: ListSource) => Promise<unknown>,
      accountId = 'a0',
    ): Promise<number> => {
      let read = 0
      const run = async <Row>(query: Parameters<ReadTx['run']>[0]): Promise<readonly Row[]> => {
        const { sql, parameters } = query.compile()
        const isRead = !sql.startsWith('select set_config(')
        const prefix = isRead ? 'explain (analyze, format json) ' : ''
        const { rows } = await client.query(`${prefix}${sql}`, [...parameters])
        const plan = rows[0]?.['QUERY PLAN'] as readonly { readonly Plan: PlanNode }[] | undefined
        read += plan?.[0] ? rowsRead(plan[0].Plan) : 0
        return []
      }
      const tx = { build: queryBuilder, run: run as ReadTx['run'] }
      await client.query(`begin; select set_config('facegate.account', '${accountId}', true)`)
      await work({ read: async (job) => job(tx), isShared: true })
      await client.query('rollback')
      return read
    }
    const logFilters = [
      {},
      { result: 'ok' },
      { result: 'failed' },
      { code: 'NO_FACE_FOUND' },
      { outcome: 'spoof' },
      { nearMiss: true },
      { keyId: 'kp0', result: 'failed' },
    ] as const
    for (const conditions of logFilters) {
      const filter = { accountId: 'a0', ...conditions }
      const page = await countReads((source) => searchCalls(source, { ...filter, limit: 51 }))
      const count = await countReads((source) => countLoggedCalls(source, filter))
      // Half of the calls have another code, and one more is read to sort equal times.
      assert.ok(page > 0 && page < 150, `a page of ${JSON.stringify(conditions)}: ${page}`)
      assert.ok(count > 0 && count < 20_300, `a count of ${JSON.stringify(conditions)}: ${count}`)
    }
    for (const conditions of [{ requestId: '30300' }, { requestIdPrefix: '3030' }]) {
      const filter = { accountId: 'a300', ...conditions }
      const page = await countReads(
        (source) => searchCalls(source, { ...filter, limit: 51 }),
        'a300',
      )
      const count = await countReads((source) => countLoggedCalls(source, filter), 'a300')
      const problem = `${JSON.stringify(conditions)}: ${page} and ${count}`
      assert.ok(page > 0 && page < 10 && count > 0 && count < 10, problem)
    }
    for (const kind of [undefined, 'charge'] as const) {
      const filter = { accountId: 'a0', kind }
      const page = await countReads((source) => findTransfers(source, { ...filter, limit: 51 }))
      const count = await countReads((source) => countTransfers(source, filter))
      assert.ok(page > 0 && page < 150, `a page of transfers: ${page}`)
      assert.ok(count > 0 && count < 10_100, `a count of transfers: ${count}`)
    }
    const event = { projectId: 'p1', type: 'key.expiring', data: {}, atMs: 1 } as const
    const added = await countReads(
      (source) => source.read((tx) => addEvent(tx as Tx, event, { outboxMax: 10_000 })),
      'a1',
    )
    // The pending deliveries of the other account are not read for an event of this one.
    assert.ok(added > 0 && added < 10, `an event: ${added}`)
  },
)
