import assert from 'node:assert/strict'
import { formatUtc } from '../../../src/lib/clock.ts'
import { decideAdmission, type AdmittedTerms } from '../../../src/store/gate/admission-rule.ts'
import { admitInOneStatement } from '../../../src/store/postgres/tx.ts'
import type { AttemptRow } from '../../../src/store/schema.ts'
import {
  admissionCase,
  pricedAction,
  type AdmissionCase,
  type CaseCall,
} from '../../support/gate/admission-case.ts'
import {
  attemptText,
  readByProject,
  testRule,
  type CountResult,
} from '../../support/gate/compare-rules.ts'
import { ruleAccountId, toJson, type RuleDatabase } from '../../support/gate/rule-database.ts'

testRule<AdmissionCase>('The PostgreSQL function admits the calls that the admission rule admits', {
  caseOf: admissionCase,
  callsOf: ({ calls }) => calls,
  compare: compareAdmissions,
  expectedResults:
    `admitted unbilled outdated revoked expired replaced FORBIDDEN RATE_LIMITED REQUEST_ID_CONFLICT
     PAYMENT_REQUIRED replay inFlight repeated stale overdue`.split(/\s+/u),
})

async function compareAdmissions(
  database: RuleDatabase,
  cases: readonly AdmissionCase[],
  count: CountResult,
): Promise<void> {
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
  const expected = withVersions.map((one) => admitByRule(one, current, count))
  const actual = await database.runLists(
    withVersions.map(({ calls }) => calls),
    (runBatched, call) => admitInOneStatement(runBatched, call),
  )
  const rowsOf = await readAdmissionRows(database)
  for (const [index, one] of withVersions.entries())
    assert.deepEqual(
      { terms: actual[index], ...rowsOf(one.projectId) },
      expected[index],
      `of ${toJson(one)}`,
    )
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
  count: CountResult,
) {
  let { fullAtUs } = stored
  let budget = { ...unusedBudget, ...stored.budget }
  const lastUses = new Map(keys.map(({ keyId, lastUsedAtUtc }) => [keyId, lastUsedAtUtc]))
  const stateOf = new Map(attempts.map((attempt) => [attempt.requestId, attempt]))
  const terms = calls.map((call): AdmittedTerms | undefined => {
    const key = keys.find(({ keyId }) => keyId === call.keyId)
    const lastUsedAtUtc = lastUses.get(call.keyId) ?? null
    if (!key) throw new RangeError('the key of a call is unknown')
    if (call.keyVersion !== null && call.keyVersion !== version) {
      count('outdated')
      return undefined
    }
    const unitMicros = call.action === pricedAction.action ? pricedAction.unitMicros : null
    const attempt = stateOf.get(call.requestId)
    const facts = {
      key: { ...key, ...limits, lastUsedAtUtc, unitMicros },
      fullAtUs,
      budget,
      attempt,
    }
    const decision = decideAdmission(facts, call, call)
    count(nameOf(decision))
    // A call that replaces or repeats an attempt is admitted in a transaction.
    if (decision.kind !== 'admitted' || attempt) return undefined
    const { access, windowStartMs, unitMicros: unit, reservedMicros, isBilled } = decision
    if (!isBilled) count('unbilled')
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

const admissionQueries = {
  projects: `select "projectId", "fullAtUs", "reservedMicros"
    from buckets join ledgers on ledger = 'budget:' || "projectId"`,
  keys: 'select "keyId", "projectId", "lastUsedAtUtc" from keys',
  attempts: 'select * from attempts',
}

/** The rows of a project that admissions write. */
async function readAdmissionRows(database: RuleDatabase) {
  const rowsOf = await readByProject(database, admissionQueries)
  return (projectId: string) => {
    const [{ fullAtUs, reservedMicros } = {}] = rowsOf('projects', projectId)
    const attempts = rowsOf('attempts', projectId) as unknown as readonly AttemptRow[]
    return {
      fullAtUs,
      reservedMicros,
      lastUses: rowsOf('keys', projectId)
        .map(({ keyId, lastUsedAtUtc }) => [keyId, lastUsedAtUtc].join(' '))
        .toSorted(),
      attempts: attempts.map(attemptText).toSorted(),
    }
  }
}
