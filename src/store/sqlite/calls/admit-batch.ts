import type { DatabaseSync } from 'node:sqlite'
import { formatUtc } from '../../../lib/clock.ts'
import type {
  AdmissionInput,
  BudgetState,
  KeyFacts,
  KeyFactsRow,
} from '../../gate/admission-facts.ts'
import { decideAdmission, type Admitted } from '../../gate/admission-rule.ts'
import { insertAttemptSql, keyFactsSql, touchKeySql } from '../../gate/call-statements.ts'
import { parsePermissions } from '../../tenancy/keys.ts'
import { prepare, type SqliteParameters } from '../connection.ts'
import { keyVersionSql } from '../key-reader.ts'
import type { ProjectStates } from './project-states.ts'

type StoredVersion = { readonly version: string }

export type AdmitBatch = {
  /**
   * Admits a new call if every check passes.
   *
   * @returns undefined if it was not admitted; then nothing was written.
   */
  readonly admit: (input: AdmissionInput) => Admitted | undefined
  /** Forgets what was read: the transaction ends, or other statements run in it. */
  readonly reset: () => void
}

/** Prepares the admission of many calls in one transaction. */
export function createAdmitBatch(connection: DatabaseSync, states: ProjectStates): AdmitBatch {
  const keys = createKeyFacts(connection)
  const touchKey = prepare(connection, touchKeySql)
  const insertAttempt = prepare(connection, `${insertAttemptSql} on conflict do nothing`)
  const admit = (input: AdmissionInput): Admitted | undefined => {
    const { projectId, keyId, keyVersion } = input
    const key = keys.find(input)
    const budget = states.budgetOf(projectId)
    if (!key || !budget || (keyVersion !== null && keyVersion !== key.version)) return undefined
    const fullAtUs = states.bucketOf(projectId, key.fullAtUs)
    // A search for the attempt would take longer: its insert fails if there is one.
    const decision = decideAdmission({ key, fullAtUs, budget, attempt: undefined }, input, input)
    if (decision.kind !== 'admitted') return undefined
    if (insertAttempt.run(attemptRowOf(input, decision)) === 0) return undefined
    const { access, reservedMicros } = decision
    if (reservedMicros > 0n) states.setBudget(projectId, withReservation(budget, reservedMicros))
    states.setBucket(projectId, access.tokens.fullAtUs)
    if (access.updatesLastUse) {
      touchKey.run({ atUtc: formatUtc(input.nowMs), keyId })
      keys.reset()
    }
    return decision
  }
  return { admit, reset: keys.reset }
}

/** The literals of this file have no spread objects: a property after one takes longer. */
function attemptRowOf(
  { projectId, requestId, keyId, action, fingerprint, token }: AdmissionInput,
  { reservedMicros, deadlineMs, windowStartMs }: Admitted,
): SqliteParameters {
  return {
    projectId,
    requestId,
    keyId,
    action,
    fingerprint,
    token,
    reservedMicros,
    deadlineMs,
    windowStartMs,
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

type StoredKey = KeyFacts & Pick<KeyFactsRow, 'fullAtUs'> & StoredVersion

/** Reads what admission depends on of a key and an action once for all calls of a transaction. */
function createKeyFacts(connection: DatabaseSync) {
  const found = new Map<string, StoredKey>()
  const sql = keyFactsSql(`, ${keyVersionSql} as version`)
  const select = prepare<KeyFactsRow & StoredVersion>(connection, sql)
  return {
    find: ({ keyId, projectId, action }: AdmissionInput): StoredKey | undefined => {
      const name = `${keyId} ${action}`
      const known = found.get(name)
      if (known) return known
      const row = select.first({ keyId, projectId, action })
      const key = row && { ...row, permissions: parsePermissions(row.permissions) }
      if (key) found.set(name, key)
      return key
    },
    reset: () => found.clear(),
  }
}
