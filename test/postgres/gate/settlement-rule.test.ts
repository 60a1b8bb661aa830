import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { packLatencies } from '../../../src/lib/observability/latency-histogram.ts'
import {
  emptyHourlyCallCount,
  hourStartMs,
  hourlyCallKeyText,
  scoreBinOf,
  withCall,
  type HourlyCallCount,
} from '../../../src/store/gate/hourly-counts.ts'
import {
  decideSettlement,
  logRowOf,
  type SettlementDecision,
} from '../../../src/store/gate/settlement-rule.ts'
import { settleInOneStatement } from '../../../src/store/postgres/call-functions.ts'
import type { AttemptRow, NewCallRow } from '../../../src/store/schema.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import {
  assertEachOccurs,
  attemptText,
  compareCases,
  comparedCalls,
  count,
  insertProjects,
  sortedText,
  type ResultCounts,
} from '../../support/gate/compare-rules.ts'
import { openRuleDatabase, toJson, type RuleDatabase } from '../../support/gate/rule-database.ts'
import { settlementCase, type SettlementCase } from '../../support/gate/settlement-case.ts'

const skip = postgresSkipReason ?? false
let database: RuleDatabase
before(async () => {
  if (!skip) database = await openRuleDatabase()
})
after(() => database?.[Symbol.asyncDispose]())

test(
  `The PostgreSQL function writes what the settlement rule decides (${comparedCalls} random calls)`,
  { skip },
  async (t) => {
    const counts: ResultCounts = new Map()
    const calls = await compareCases(database, {
      caseOf: settlementCase,
      compare: (cases) => compareSettlements(cases, counts),
    })
    t.diagnostic(`${calls} calls: ${[...counts].map((entry) => entry.join(' ')).join(', ')}`)
    assertEachOccurs(counts, ['charged', 'free', 'metered', 'not owned', 'contradiction'])
  },
)

async function compareSettlements(
  cases: readonly SettlementCase[],
  counts: ResultCounts,
): Promise<number> {
  await insertProjects(database, cases)
  const expected = cases.map((one) => settleByRule(one, counts))
  const settle = (settled: readonly SettlementCase[]) =>
    database.runLists(
      settled.map(({ settlements }) => settlements),
      (runBatched, settlement) => settleInOneStatement(runBatched, settlement),
    )
  // A contradiction to the ledger fails the whole statement.
  for (const one of cases.filter((_, index) => expected[index] === 'contradiction'))
    await database.inSavepoint(() => assert.rejects(settle([one]), toJson(one)))
  const possible = cases.filter((_, index) => expected[index] !== 'contradiction')
  const actual = await settle(possible)
  const rows = await readSettlementRows()
  for (const [index, one] of possible.entries())
    assert.deepEqual(
      { isSettled: actual[index], ...rowsOf(rows, one.projectId) },
      expected[cases.indexOf(one)],
      `of ${toJson(one)}`,
    )
  return cases.reduce((sum, { settlements }) => sum + settlements.length, 0)
}

/** What the rule writes of the settlements, one after another. */
function settleByRule(
  { projectId, attempts, settlements, budget: stored }: SettlementCase,
  counts: ResultCounts,
) {
  let budget = stored
  const completed = new Map(attempts.map((attempt) => [attempt.requestId, attempt]))
  const charges: NonNullable<SettlementDecision['charge']>[] = []
  const calls: NewCallRow[] = []
  const subjects = new Set<string>()
  const scores = new Map<string, { count: number; matched: number }>()
  const isSettled: boolean[] = []
  for (const settlement of settlements) {
    const { requestId, token, code, response, scrubbed, amountMicros, nowMs } = settlement
    const attempt = completed.get(requestId)
    const isOwner = attempt?.state === 'running' && attempt.token === token
    isSettled.push(isOwner)
    if (!isOwner) {
      count(counts, 'not owned')
      continue
    }
    const done = { state: 'done', reservedMicros: 0n, code, response, scrubbed } as const
    completed.set(requestId, { ...attempt, ...done })
    for (const subjectId of settlement.subjectIds) subjects.add(`${subjectId} ${requestId}`)
    const decision = decideOrUndefined(settlement, budget)
    if (!decision) {
      count(counts, 'contradiction')
      return 'contradiction'
    }
    budget = decision.budget ?? budget
    if (decision.charge) charges.push(decision.charge)
    for (const { kind, value, isMatched } of settlement.scores) {
      const name = [kind, hourStartMs(nowMs), scoreBinOf(value)].join(' ')
      const { count: before, matched } = scores.get(name) ?? { count: 0, matched: 0 }
      scores.set(name, { count: before + 1, matched: matched + (isMatched ? 1 : 0) })
    }
    // The number of the charge stands for its id.
    calls.push(logRowOf(settlement, decision.charge?.seq ?? null))
    count(
      counts,
      amountMicros > 0n ? 'charged' : settlement.meteredMicros > 0n ? 'metered' : 'free',
    )
  }
  return {
    isSettled,
    budget: sortedText({ projectId, ...budget }),
    attempts: [...completed.values()].map(attemptText).toSorted(),
    charges: charges.map(sortedText).toSorted(),
    calls: calls.map(sortedText).toSorted(),
    subjects: [...subjects].toSorted(),
    scores: [...scores]
      .map(([name, { count: n, matched }]) => `${name} ${n} ${matched}`)
      .toSorted(),
    hours: countByHour(calls, projectId).map(sortedText).toSorted(),
  }
}

function decideOrUndefined(...args: Parameters<typeof decideSettlement>) {
  try {
    return decideSettlement(...args)
  } catch {
    return undefined
  }
}

function countByHour(calls: readonly NewCallRow[], projectId: string): object[] {
  const hours = new Map<string, HourlyCallCount>()
  for (const call of calls) {
    const row = { ...call, detail: null }
    const name = hourlyCallKeyText(row)
    hours.set(name, withCall(hours.get(name) ?? emptyHourlyCallCount(row), row))
  }
  return [...hours.values()].map((hour) => ({
    ...hour,
    projectId,
    latencies: packLatencies(hour.latencies),
  }))
}

const settlementQueries = {
  attempts: 'select * from attempts',
  budgets: `select substring(ledger from 8) as "projectId", "balanceMicros", "reservedMicros",
      "headSeq", "headHash", "lowAtMicros", "exhaustedAtMicros"
    from ledgers`,
  charges: `select "projectId", chain, seq, kind, "fromLedger", "toLedger", "amountMicros", "atMs",
      "requestId", "windowStartMs", "rowHash"
    from "ledgerTransfers"`,
  calls: `select c."atMs", c."keyId", c."projectId", c."requestId", c.action, c.code, c."latencyMs",
      c."costMicros", c."meteredMicros", c."isReplay", c.detail, t.seq as "transferId"
    from calls c left join "ledgerTransfers" t using ("transferId")`,
  subjects: 'select "projectId", "subjectId", "requestId" from "responseSubjects"',
  scores: 'select "projectId", kind, "hourMs", bin, count, matched from "scoreHours"',
  hours: 'select * from "callHours"',
}

type ComparedTable = keyof typeof settlementQueries
type SettlementRows = ReadonlyMap<
  string,
  ReadonlyMap<unknown, readonly Readonly<Record<string, unknown>>[]>
>

/** The rows of each table by project. */
async function readSettlementRows(): Promise<SettlementRows> {
  const tables = await Array.fromAsync(Object.entries(settlementQueries), async ([name, text]) => {
    const rows = await database.query(text)
    return [name, Map.groupBy(rows, ({ projectId }) => projectId)] as const
  })
  return new Map(tables)
}

function rowsOf(rows: SettlementRows, projectId: string) {
  const of = (table: ComparedTable) => rows.get(table)?.get(projectId) ?? []
  return {
    budget: of('budgets').map(sortedText).join(),
    attempts: (of('attempts') as unknown as readonly AttemptRow[]).map(attemptText).toSorted(),
    charges: of('charges').map(sortedText).toSorted(),
    calls: of('calls').map(sortedText).toSorted(),
    subjects: of('subjects')
      .map(({ subjectId, requestId }) => [subjectId, requestId].join(' '))
      .toSorted(),
    scores: of('scores')
      .map((row) =>
        ['kind', 'hourMs', 'bin', 'count', 'matched'].map((name) => row[name]).join(' '),
      )
      .toSorted(),
    hours: of('hours').map(sortedText).toSorted(),
  }
}
