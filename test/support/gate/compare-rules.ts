import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { formatUtc } from '../../../src/lib/clock.ts'
import type { AttemptRow } from '../../../src/store/schema.ts'
import { columnsFromSwitches, defaultSwitches } from '../../../src/store/tenancy/switches.ts'
import { ruleAccountId, toJson, type RuleDatabase } from './rule-database.ts'

/** The number of calls that are compared at least. */
export const comparedCalls = Number(process.env['RULE_CALLS'] ?? 10_000)

const firstSeed = Number(process.env['RULE_SEED'] ?? Date.now() % 1e9)

/** Lists of calls of separate projects, which share a transaction and a statement. */
const listsPerRun = 200

/** How often each result occurred. */
export type ResultCounts = Map<string, number>

export function count(counts: ResultCounts, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

type CaseComparison<Case> = {
  /** @param number makes the ids of the case unique. */
  readonly caseOf: (number: number) => fc.Arbitrary<Case>
  /** @returns the number of compared calls. */
  readonly compare: (cases: readonly Case[]) => Promise<number>
}

/** Compares random cases in transactions until enough calls were compared. @returns their number. */
export async function compareCases<Case>(
  database: RuleDatabase,
  { caseOf, compare }: CaseComparison<Case>,
): Promise<number> {
  const numbers = Array.from({ length: listsPerRun }, (_, number) => number)
  const cases = fc.tuple(...numbers.map(caseOf))
  let calls = 0
  for (let seed = firstSeed; ; seed++) {
    // `fc.assert` would print all cases of a run.
    const [run = []] = fc.sample(cases, { numRuns: 1, seed })
    calls += await database.inRollback(() =>
      compare(run).catch((cause: unknown) => {
        throw new Error(`RULE_SEED=${seed} repeats this run`, { cause })
      }),
    )
    if (calls >= comparedCalls) return calls
  }
}

export function assertEachOccurs(counts: ResultCounts, names: readonly string[]): void {
  for (const name of names) assert.ok((counts.get(name) ?? 0) > 0, `no case of ${name}`)
}

type CaseProject = {
  readonly projectId: string
  readonly limits?: object
  readonly budget: object
  readonly attempts: readonly AttemptRow[]
}

/** Inserts the projects of cases with their budgets and their attempts. */
export async function insertProjects(
  database: RuleDatabase,
  cases: readonly CaseProject[],
): Promise<void> {
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

/** The content of an attempt, to compare. */
export function attemptText({ fingerprint, response, scrubbed, ...row }: AttemptRow): string {
  const bytes = [fingerprint, response, scrubbed].map((value) => value && new Uint8Array(value))
  return sortedText({ ...row, bytes })
}

/** The fields of a row in the order of their names, to compare. */
export function sortedText(row: object): string {
  return toJson(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
