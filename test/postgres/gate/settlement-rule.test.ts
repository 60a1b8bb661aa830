import assert from 'node:assert/strict'
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
import { settleInOneStatement } from '../../../src/store/postgres/tx.ts'
import type { AttemptRow, NewCallRow } from '../../../src/store/schema.ts'
import {
  attemptText,
  readByProject,
  sortedText,
  testRule,
  type CountResult,
} from '../../support/gate/compare-rules.ts'
import { toJson, type RuleDatabase } from '../../support/gate/rule-database.ts'
import { settlementCase, type SettlementCase } from '../../support/gate/settlement-case.ts'

testRule<SettlementCase>('The PostgreSQL function writes what the settlement rule decides', {
  caseOf: settlementCase,
  callsOf: ({ settlements }) => settlements,
  compare: compareSettlements,
  expectedResults: ['charged', 'free', 'metered', 'not owned', 'contradiction'],
})

async function compareSettlements(
  database: RuleDatabase,
  cases: readonly SettlementCase[],
  count: CountResult,
): Promise<void> {
  const expected = cases.map((one) => settleByRule(one, count))
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
  const rowsOf = await readSettlementRows(database)
  for (const [index, one] of possible.entries())
    assert.deepEqual(
      { isSettled: actual[index], ...rowsOf(one.projectId) },
      expected[cases.indexOf(one)],
      `of ${toJson(one)}`,
    )
}

/** What the rule writes of the settlements, one after another. */
function settleByRule(
  { projectId, attempts, settlements, budget: stored }: SettlementCase,
  count: CountResult,
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
      count('not owned')
      continue
    }
    const done = { state: 'done', reservedMicros: 0n, code, response, scrubbed } as const
    completed.set(requestId, { ...attempt, ...done })
    for (const subjectId of settlement.subjectIds) subjects.add(`${subjectId} ${requestId}`)
    const decision = decideOrUndefined(settlement, budget)
    if (!decision) {
      count('contradiction')
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
    count(amountMicros > 0n ? 'charged' : settlement.meteredMicros > 0n ? 'metered' : 'free')
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
      c."costMicros", c."meteredMicros", c."isReplay", c.detail, c.outcome, c.similarity,
      c."livenessScore", c.threshold, c.margin, c.quality, c.reason, c."nearMiss", t.seq as "transferId"
    from calls c left join "ledgerTransfers" t using ("transferId")`,
  subjects: 'select "projectId", "subjectId", "requestId" from "responseSubjects"',
  scores: 'select "projectId", kind, "hourMs", bin, count, matched from "scoreHours"',
  hours: 'select * from "callHours"',
}

/** The rows of a project that settlements write. */
async function readSettlementRows(database: RuleDatabase) {
  const rowsOf = await readByProject(database, settlementQueries)
  return (projectId: string) => {
    const textsOf = (name: keyof typeof settlementQueries) =>
      rowsOf(name, projectId).map(sortedText).toSorted()
    const attempts = rowsOf('attempts', projectId) as unknown as readonly AttemptRow[]
    return {
      budget: textsOf('budgets').join(),
      attempts: attempts.map(attemptText).toSorted(),
      charges: textsOf('charges'),
      calls: textsOf('calls'),
      subjects: rowsOf('subjects', projectId)
        .map(({ subjectId, requestId }) => [subjectId, requestId].join(' '))
        .toSorted(),
      scores: rowsOf('scores', projectId)
        .map((row) =>
          ['kind', 'hourMs', 'bin', 'count', 'matched'].map((name) => row[name]).join(' '),
        )
        .toSorted(),
      hours: textsOf('hours'),
    }
  }
}
