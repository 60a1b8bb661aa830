import type { DatabaseSync } from 'node:sqlite'
import type {
  AdmissionInput,
  BudgetState,
  KeyFacts,
  KeyFactsRow,
} from '../../gate/admission-facts.ts'
import {
  type SettlementInput,
  completeAttemptSql,
  insertAttemptSql,
  insertTransferSql,
} from '../../gate/statements.ts'
import { createProjectStates, type ProjectStates } from './project-states.ts'
import type { PendingCounts } from '../hourly-counts.ts'
import { formatUtc } from '../../../lib/clock.ts'
import { decideAdmission, type Admitted } from '../../gate/admission-rule.ts'
import * as statements from '../../gate/call-statements.ts'
import { parsePermissions } from '../../tenancy/keys.ts'
import { prepare, type SqliteParameters } from '../connection.ts'
import { keyVersionSql } from '../key-reader.ts'
import { scoreRowOf } from '../../gate/hourly-counts.ts'
import { decideSettlement, logRowOf } from '../../gate/settlement-rule.ts'

/** The admission or the settlement of a call that needs no other statement. */
export type CallJob =
  | { readonly kind: 'admit'; readonly input: AdmissionInput }
  | { readonly kind: 'settle'; readonly input: SettlementInput }

/** The result of a job, or the error that rolled it back. */
export type CallJobResult = { readonly value: unknown } | { readonly error: unknown }

export type CallBatch = ReturnType<typeof createCallBatch>

type CallBatchOptions = {
  readonly pending: PendingCounts
  readonly isFatal: (error: unknown) => boolean
}

export function createCallBatch(connection: DatabaseSync, { pending, isFatal }: CallBatchOptions) {
  const states = createProjectStates(connection)
  const { admit, reset } = createAdmitBatch(connection, states)
  const settle = createSettleBatch(connection, { states, countCall: pending.add })
  const begin = connection.prepare('SAVEPOINT calls')
  const release = connection.prepare('RELEASE calls')
  const runJob = (job: CallJob): CallJobResult => ({
    value: job.kind === 'admit' ? admit(job.input) : settle(job.input),
  })
  /** Runs all jobs, or none if one of them fails. */
  const runAll = (jobs: readonly CallJob[]): readonly CallJobResult[] => {
    const position = pending.position()
    begin.run()
    try {
      const results = jobs.map(runJob)
      states.flush()
      release.run()
      return results
    } catch (error) {
      pending.rewind(position)
      states.reset()
      if (connection.isTransaction) connection.exec('ROLLBACK TO calls; RELEASE calls')
      throw error
    } finally {
      reset()
    }
  }
  const runOne = (job: CallJob): CallJobResult => {
    try {
      return runAll([job])[0] ?? { value: undefined }
    } catch (error) {
      if (!connection.isTransaction || isFatal(error)) throw error
      return { error }
    }
  }
  return {
    /**
     * Runs jobs in the open transaction. They read and write the rows of their projects once, not once
     * for each job.
     *
     * @throws Error if the database itself fails, see `isFatal`.
     */
    run: (jobs: readonly CallJob[]): readonly CallJobResult[] => {
      try {
        return runAll(jobs)
      } catch (error) {
        if (!connection.isTransaction || isFatal(error)) throw error
        return jobs.length === 1 ? [{ error }] : jobs.map(runOne)
      }
    },
  }
}

type StoredVersion = { readonly version: string }

/** Prepares the admission of many calls in one transaction. */
function createAdmitBatch(connection: DatabaseSync, states: ProjectStates) {
  const keys = createKeyFacts(connection)
  const touchKey = prepare(connection, statements.touchKeySql)
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
  return {
    /**
     * Admits a new call if every check passes.
     *
     * @returns undefined if it was not admitted; then nothing was written.
     */
    admit,
    /** Forgets what was read: the transaction ends, or other statements run in it. */
    reset: keys.reset,
  }
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
  const sql = statements.keyFactsSql(`, ${keyVersionSql} as version`)
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

/**
 * Prepares the settlement of many calls in one transaction.
 *
 * @returns a function that completes a call. It returns false if its reservation has expired; then
 *   nothing was written. If the settlement contradicts the ledger, it throws an error, and the caller
 *   rolls its writes back.
 */
export function createSettleBatch(
  connection: DatabaseSync,
  options: { readonly states: ProjectStates; readonly countCall: PendingCounts['add'] },
): (settlement: SettlementInput) => boolean {
  const { states, countCall } = options
  const complete = prepare(connection, completeAttemptSql)
  const insertTransfer = prepare<never>(connection, insertTransferSql)
  const insertCall = prepare(connection, statements.insertCallSql)
  const countScore = prepare(connection, statements.countScoreSql)
  const insertSubject = prepare(
    connection,
    `insert into responseSubjects (subjectId, projectId, requestId)
     values (:subjectId, :projectId, :requestId)`,
  )
  return (settlement) => {
    const { projectId, requestId, token, code, response, scrubbed, nowMs } = settlement
    const isOwner = complete.run({ projectId, requestId, token, code, response, scrubbed }) === 1
    if (!isOwner) return false
    for (const subjectId of new Set(settlement.subjectIds))
      insertSubject.run({ subjectId, projectId, requestId })
    const { budget, charge } = decideSettlement(settlement, states.budgetOf(projectId))
    if (budget) states.setBudget(projectId, budget)
    const transferId = charge ? insertTransfer.insert(charge) : null
    for (const score of settlement.scores)
      countScore.run(scoreRowOf(score, { projectId, atMs: nowMs }))
    const call = logRowOf(settlement, transferId)
    insertCall.run(call)
    countCall(call)
    return true
  }
}
