import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { formatUtc } from '../../../src/lib/clock.ts'
import type { AttemptRow } from '../../../src/store/schema.ts'
import { columnsFromSwitches, defaultSwitches } from '../../../src/store/tenancy/switches.ts'
import { postgresSkipReason } from '../database/postgres-server.ts'
import {
  openRuleDatabase,
  ruleAccountId,
  toJson,
  type RuleDatabase,
  type RuleRow,
} from './rule-database.ts'

/** The number of calls that are compared at least. */
const comparedCalls = Number(process.env['RULE_CALLS'] ?? 10_000)

const firstSeed = Number(process.env['RULE_SEED'] ?? Date.now() % 1e9)

/** Lists of calls of separate projects, which share a transaction and a statement. */
const listsPerRun = 200

/** Counts how often each result occurs. */
export type CountResult = (name: string) => void

type RuleCase = {
  readonly projectId: string
  readonly limits?: object
  readonly budget: object
  readonly attempts: readonly AttemptRow[]
}

type RuleComparison<Case> = {
  /** @param number makes the ids of the case unique. */
  readonly caseOf: (number: number) => fc.Arbitrary<Case>
  readonly callsOf: (one: Case) => readonly unknown[]
  /** Compares cases whose projects, budgets and attempts are stored. */
  readonly compare: (
    database: RuleDatabase,
    cases: readonly Case[],
    count: CountResult,
  ) => Promise<void>
  /** Each of them must occur. */
  readonly expectedResults: readonly string[]
}

/** Adds a test that compares a function of PostgreSQL with its rule, for random cases. */
export function testRule<Case extends RuleCase>(
  name: string,
  comparison: RuleComparison<Case>,
): void {
  const skip = postgresSkipReason ?? false
  void test(`${name} (${comparedCalls} random calls)`, { skip }, async (t) => {
    await using database = await openRuleDatabase()
    const counts = new Map<string, number>()
    const calls = await compareCases(database, comparison, (result) => {
      counts.set(result, (counts.get(result) ?? 0) + 1)
    })
    t.diagnostic(`${calls} calls: ${[...counts].map((entry) => entry.join(' ')).join(', ')}`)
    for (const result of comparison.expectedResults)
      assert.ok(counts.has(result), `no case of ${result}`)
  })
}

/** Compares random cases in transactions until enough calls were compared. @returns their number. */
async function compareCases<Case extends RuleCase>(
  database: RuleDatabase,
  { caseOf, callsOf, compare }: RuleComparison<Case>,
  count: CountResult,
): Promise<number> {
  const numbers = Array.from({ length: listsPerRun }, (_, number) => number)
  const cases = fc.tuple(...numbers.map(caseOf))
  let calls = 0
  for (let seed = firstSeed; calls < comparedCalls; seed++) {
    // `fc.assert` would print all cases of a run.
    const [run = []] = fc.sample(cases, { numRuns: 1, seed })
    await database.inRollback(async () => {
      await insertProjects(database, run)
      await compare(database, run, count).catch((cause: unknown) => {
        throw new Error(`RULE_SEED=${seed} repeats this run`, { cause })
      })
    })
    calls += run.reduce((sum, one) => sum + callsOf(one).length, 0)
  }
  return calls
}

/** Inserts the projects of cases with their budgets and their attempts. */
async function insertProjects(database: RuleDatabase, cases: readonly RuleCase[]): Promise<void> {
  const accountId = ruleAccountId
  const createdAtUtc = formatUtc(0)
  await database.insert('accounts', [{ accountId, name: 'account', createdAtUtc }])
  const defaults = { accountId, galleryMode: 'isolated', createdAtUtc, matchWebhooks: 0 }
  const switches = { ...columnsFromSwitches(defaultSwitches), isFrozen: 0 }
  await database.insert(
    'projects',
    cases.map(({ projectId, limits }) => ({
      projectId,
      name: projectId,
      ...defaults,
      ...switches,
      sustainedPerS: null,
      burst: null,
      ...limits,
    })),
  )
  const head = { headSeq: 0, headHash: Buffer.alloc(32) }
  await database.insert(
    'ledgers',
    cases.map(({ projectId, budget }) => ({
      ledger: `budget:${projectId}`,
      accountId,
      ...head,
      ...budget,
    })),
  )
  await database.insert(
    'attempts',
    cases.flatMap(({ attempts }) => attempts),
  )
}

/** Reads the rows of several queries, which select `projectId`. @returns those of a project. */
export async function readByProject<Name extends string>(
  database: RuleDatabase,
  queries: Readonly<Record<Name, string>>,
): Promise<(name: Name, projectId: string) => readonly RuleRow[]> {
  const tables = new Map<string, ReadonlyMap<unknown, readonly RuleRow[]>>()
  for (const [name, text] of Object.entries<string>(queries))
    tables.set(
      name,
      Map.groupBy(await database.query(text), ({ projectId }) => projectId),
    )
  return (name, projectId) => tables.get(name)?.get(projectId) ?? []
}

/** The content of an attempt, to compare. */
export function attemptText({ fingerprint, response, scrubbed, ...row }: AttemptRow): string {
  const bytes = [fingerprint, response, scrubbed].map((value) => value && new Uint8Array(value))
  return sortedText({ ...row, bytes })
}

/** The fields of a row in the order of their names, to compare. */
export function sortedText(row: object): string {
  return toJson(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
