import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { formatUtc } from '../../../src/lib/clock.ts'
import { decideAdmission, type AdmittedTerms } from '../../../src/store/gate/admission-rule.ts'
import { admitInOneStatement } from '../../../src/store/postgres/call-functions.ts'
import type { AttemptRow } from '../../../src/store/schema.ts'
import { postgresSkipReason } from '../../support/database/postgres-server.ts'
import {
  admissionCase,
  pricedAction,
  type AdmissionCase,
  type CaseCall,
} from '../../support/gate/admission-case.ts'
import {
  assertEachOccurs,
  attemptText,
  compareCases,
  comparedCalls,
  count,
  insertProjects,
  type ResultCounts,
} from '../../support/gate/compare-rules.ts'
import {
  openRuleDatabase,
  ruleAccountId,
  toJson,
  type RuleDatabase,
} from '../../support/gate/rule-database.ts'

const skip = postgresSkipReason ?? false
let database: RuleDatabase
before(async () => {
  if (!skip) database = await openRuleDatabase()
})
after(() => database?.[Symbol.asyncDispose]())

test(
  `The PostgreSQL function admits the calls that the admission rule admits (${comparedCalls} random calls)`,
  { skip },
  async (t) => {
    const counts: ResultCounts = new Map()
    const calls = await compareCases(database, {
      caseOf: admissionCase,
      compare: (cases) => compareAdmissions(cases, counts),
    })
    t.diagnostic(`${calls} calls: ${[...counts].map((entry) => entry.join(' ')).join(', ')}`)
    assertEachOccurs(counts, expectedResults)
  },
)

const expectedResults =
  `admitted unbilled outdated revoked expired replaced FORBIDDEN RATE_LIMITED REQUEST_ID_CONFLICT
   PAYMENT_REQUIRED replay inFlight repeated stale overdue`.split(/\s+/u)

async function compareAdmissions(
  cases: readonly AdmissionCase[],
  counts: ResultCounts,
): Promise<number> {
  await insertProjects(database, cases)
  await database.insert('prices', [{ accountId: ruleAccountId, ...pricedAction }])
  for (const { projectId, fullAtUs } of cases)
    if (fullAtUs !== 0)
      await database.query(`update buckets set "fullAtUs" = $2 where "projectId" = $1`, [
        projectId,
        fullAtUs,
      ])
  await database.insert('keys', cases.flatMap(keyRows))
  const [{ xid = '' } = {}] = await database.query('select pg_current_xact_id()::xid::text as xid')
  const current = `${String(xid)} ${String(xid)}`
  const withVersions = cases.map((one) => ({
    ...one,
    calls: one.calls.map((call) => ({ ...call, keyVersion: keyVersionOf(call, current) })),
  }))
  const expected = withVersions.map((one) => admitByRule(one, current, counts))
  const actual = await database.runLists(
    withVersions.map(({ calls }) => calls),
    (runBatched, call) => admitInOneStatement(runBatched, call),
  )
  const rows = await readAdmissionRows()
  for (const [index, one] of withVersions.entries()) {
    const { projectId } = one
    const written = rows.get(projectId)
    assert.deepEqual({ terms: actual[index], ...written }, expected[index], `of ${toJson(one)}`)
  }
  return cases.reduce((sum, { calls }) => sum + calls.length, 0)
}

function keyRows({ projectId, keys }: AdmissionCase) {
  return keys.map(({ permissions, keyId, ...fields }) => ({
    keyId,
    projectId,
    name: 'key',
    prefix: 'fsk_live_',
    last4: '0000',
    hash: Buffer.from(keyId.padEnd(32).slice(-32)),
    permissions: JSON.stringify(permissions),
    createdAtUtc: formatUtc(0),
    isHidden: 0,
    ...fields,
  }))
}

function keyVersionOf({ remembers }: CaseCall, current: string): string | null {
  return { nothing: null, current, outdated: '1 1' }[remembers]
}

/** What the rule admits of the calls, one after another, and what is stored afterwards. */
function admitByRule(
  { limits, keys, attempts, calls, ...stored }: AdmissionCase,
  version: string,
  counts: ResultCounts,
) {
  let { fullAtUs } = stored
  let budget = { ...unusedBudget, ...stored.budget }
  const lastUses = new Map(keys.map(({ keyId, lastUsedAtUtc }) => [keyId, lastUsedAtUtc]))
  const stateOf = new Map(attempts.map((attempt) => [attempt.requestId, attempt]))
  const terms = calls.map((call): AdmittedTerms | undefined => {
    const key = keys.find(({ keyId }) => keyId === call.keyId)
    const lastUsedAtUtc = lastUses.get(call.keyId) ?? null
    if (!key) throw new RangeError('the key of a call is unknown')
    if (call.keyVersion !== null && call.keyVersion !== version) return countOutdated(counts)
    const unitMicros = call.action === pricedAction.action ? pricedAction.unitMicros : null
    const attempt = stateOf.get(call.requestId)
    const facts = {
      key: { ...key, ...limits, lastUsedAtUtc, unitMicros },
      fullAtUs,
      budget,
      attempt,
    }
    const decision = decideAdmission(facts, call, call)
    count(counts, nameOf(decision))
    // A call that replaces or repeats an attempt is admitted in a transaction.
    if (decision.kind !== 'admitted' || attempt) return undefined
    const { access, windowStartMs, unitMicros: unit, reservedMicros, isBilled } = decision
    if (!isBilled) count(counts, 'unbilled')
    fullAtUs = access.tokens.fullAtUs
    budget = { ...budget, reservedMicros: budget.reservedMicros + reservedMicros }
    if (access.updatesLastUse) lastUses.set(call.keyId, formatUtc(call.nowMs))
    stateOf.set(call.requestId, attemptOf(call, decision))
    return {
      access: { tokens: access.tokens },
      windowStartMs,
      unitMicros: unit,
      reservedMicros,
      isBilled,
    }
  })
  return {
    terms,
    fullAtUs,
    reservedMicros: budget.reservedMicros,
    lastUses: [...lastUses].map((entry) => entry.join(' ')).toSorted(),
    attempts: [...stateOf.values()].map(attemptText).toSorted(),
  }
}

function countOutdated(counts: ResultCounts): undefined {
  count(counts, 'outdated')
}

const unusedBudget = {
  headSeq: 0,
  headHash: Buffer.alloc(32),
  lowAtMicros: null,
  exhaustedAtMicros: null,
}

function nameOf(decision: ReturnType<typeof decideAdmission>): string {
  if (decision.kind === 'unauthorized') return decision.state
  if (decision.kind === 'rejected') return decision.rejection.code
  if (decision.kind !== 'admitted') return decision.kind
  return decision.replaced?.kind ?? (decision.isRepeated ? 'repeated' : 'admitted')
}

function attemptOf(
  { projectId, requestId, keyId, action, fingerprint, token }: CaseCall,
  terms: Pick<AttemptRow, 'reservedMicros' | 'deadlineMs' | 'windowStartMs'>,
): AttemptRow {
  const { reservedMicros, deadlineMs, windowStartMs } = terms
  const key = { projectId, requestId, keyId, action, fingerprint, token }
  const running = { state: 'running', code: null, response: null, scrubbed: null } as const
  return { ...key, ...running, reservedMicros, deadlineMs, windowStartMs }
}

/** The rows of each project that admissions write. */
async function readAdmissionRows(): Promise<ReadonlyMap<string, object>> {
  const projects = await database.query(
    `select "projectId", "fullAtUs", "reservedMicros"
     from buckets join ledgers on ledger = 'budget:' || "projectId"`,
  )
  const keys = await database.query('select "keyId", "projectId", "lastUsedAtUtc" from keys')
  const attempts = (await database.query('select * from attempts')) as readonly AttemptRow[]
  const keysByProject = Map.groupBy(keys, ({ projectId }) => projectId)
  const attemptsByProject = Map.groupBy(attempts, ({ projectId }) => projectId)
  return new Map(
    projects.map(({ projectId, fullAtUs, reservedMicros }) => {
      const lastUses = keysByProject.get(projectId) ?? []
      const rows = {
        fullAtUs,
        reservedMicros,
        lastUses: lastUses
          .map(({ keyId, lastUsedAtUtc }) => [keyId, lastUsedAtUtc].join(' '))
          .toSorted(),
        attempts: (attemptsByProject.get(String(projectId)) ?? []).map(attemptText).toSorted(),
      }
      return [String(projectId), rows]
    }),
  )
}
