import type { DatabaseSync } from 'node:sqlite'
import { takeToken } from '../../../lib/limits/token-bucket.ts'
import type {
  AdmissionFacts,
  AdmitStatementInput,
  AdmitStatementRow,
} from '../../gate/statements.ts'
import { insertAttemptSql, touchKeySql } from '../../gate/call-statements.ts'
import { parsePermissions } from '../../tenancy/keys.ts'
import { prepare, type SqliteParameters } from '../connection.ts'
import { keyVersionSql } from '../key-reader.ts'
import type { BudgetState, ProjectStates } from './project-states.ts'

type StoredFacts = Omit<AdmissionFacts, 'balanceMicros' | 'exhaustedAtMicros'> & {
  readonly version: string
}

/** What admission reads about a key and an action, once for all calls of a transaction. */
type CallFacts = Omit<StoredFacts, 'permissions'> & { readonly permissions: ReadonlySet<string> }

export type AdmitBatch = {
  /**
   * Admits a call if every check passes.
   *
   * @returns undefined if it was not admitted; then nothing was written.
   */
  readonly admit: (input: AdmitStatementInput) => AdmitStatementRow | undefined
  /** Forgets what was read: the transaction ends, or other statements run in it. */
  readonly reset: () => void
}

/** Prepares the admission of many calls in one transaction. */
export function createAdmitBatch(connection: DatabaseSync, states: ProjectStates): AdmitBatch {
  const findFacts = createFindFacts(connection)
  const touchKey = prepare(connection, touchKeySql)
  const insertAttempt = prepare(connection, `${insertAttemptSql} on conflict do nothing`)
  const admit = (input: AdmitStatementInput): AdmitStatementRow | undefined => {
    const { projectId, steadyUs, nowUtc: atUtc } = input
    const facts = findFacts.find(input)
    if (!facts || !isPermitted(facts, input)) return undefined
    const { sustainedPerS, burst, billing, unitMicros } = facts
    const fullAtUs = states.bucketOf(projectId, facts.fullAtUs)
    const limits = {
      sustainedPerS: sustainedPerS ?? input.sustainedPerS,
      burst: burst ?? input.burst,
    }
    const tokens = takeToken(limits, fullAtUs, steadyUs)
    if (!tokens.isAllowed) return undefined
    const unitPriceMicros = unitMicros ?? input.defaultMicros
    const reservedMicros = billing === 1 ? BigInt(input.units) * unitPriceMicros : 0n
    const budget = states.budgetOf(projectId)
    if (!budget || !isCovered(budget, reservedMicros)) return undefined
    if (insertAttempt.run(attemptRowOf(input, reservedMicros)) === 0) return undefined
    if (reservedMicros > 0n) states.setBudget(projectId, withReservation(budget, reservedMicros))
    states.setBucket(projectId, tokens.fullAtUs)
    if ((facts.lastUsedAtUtc ?? '') <= input.touchedBeforeUtc) {
      touchKey.run({ atUtc, keyId: input.keyId })
      findFacts.reset()
    }
    return { sustainedPerS, burst, billing, fullAtUs, unitMicros }
  }
  return { admit, reset: findFacts.reset }
}

function attemptRowOf(input: AdmitStatementInput, reservedMicros: bigint): SqliteParameters {
  return {
    projectId: input.projectId,
    requestId: input.requestId,
    keyId: input.keyId,
    action: input.action,
    fingerprint: input.fingerprint,
    token: input.token,
    reservedMicros,
    deadlineMs: input.deadlineMs,
    windowStartMs: input.nowMs,
  }
}

function withReservation(budget: BudgetState, reservedMicros: bigint): BudgetState {
  return {
    balanceMicros: budget.balanceMicros,
    reservedMicros: budget.reservedMicros + reservedMicros,
    headSeq: budget.headSeq,
    headHash: budget.headHash,
    lowAtMicros: budget.lowAtMicros,
    exhaustedAtMicros: budget.exhaustedAtMicros,
  }
}

function isCovered({ balanceMicros, reservedMicros }: BudgetState, priceMicros: bigint): boolean {
  return priceMicros === 0n || balanceMicros - reservedMicros >= priceMicros
}

/** Whether the key is valid, unchanged since the caller was read, and has the permissions. */
function isPermitted(facts: CallFacts, input: AdmitStatementInput): boolean {
  const { revokedAtUtc, expiresAtUtc, permissions, version } = facts
  if (input.keyVersion !== null && input.keyVersion !== version) return false
  if (revokedAtUtc !== null || (expiresAtUtc !== null && input.nowUtc >= expiresAtUtc)) return false
  return permissions.has('*') || input.permissions.every((name) => permissions.has(name))
}

type FindFacts = {
  readonly find: (input: AdmitStatementInput) => CallFacts | undefined
  readonly reset: () => void
}

function createFindFacts(connection: DatabaseSync): FindFacts {
  const found = new Map<string, CallFacts>()
  const select = prepare<StoredFacts>(
    connection,
    `select permissions, expiresAtUtc, revokedAtUtc, lastUsedAtUtc, sustainedPerS, burst, billing,
       fullAtUs, unitMicros, ${keyVersionSql} as version
     from keys join projects using (projectId) left join buckets using (projectId)
     left join prices on prices.accountId = projects.accountId and prices.action = :action
     where keyId = :keyId and projectId = :projectId`,
  )
  return {
    find: ({ keyId, projectId, action }) => {
      const name = `${keyId} ${action}`
      const known = found.get(name)
      if (known) return known
      const row = select.first({ keyId, projectId, action })
      const facts = row && { ...row, permissions: new Set(parsePermissions(row.permissions)) }
      if (facts) found.set(name, facts)
      return facts
    },
    reset: () => found.clear(),
  }
}
