import { noDecision } from '../../lib/observability/call-decision.ts'
import type { AttemptRow } from '../schema.ts'
import type { ReadTx, Tx } from '../database.ts'
import { budgetLedger } from '../tenancy/projects.ts'
import { admissionFactsOf, type BudgetState, type KeyFactsRow } from './admission-facts.ts'
import {
  type StatementRunner,
  attemptStatements,
  findAttemptSql,
  findFirst,
  ledgerStatements,
} from './statements.ts'

type CallStatements = Omit<Tx, keyof ReadTx | 'savepoint' | 'lock' | 'settleCall'>

/** Returns the statements of a job that are the same on both engines. */
export function createCallStatements(runner: StatementRunner): CallStatements {
  const { run, send, countCall } = runner
  return {
    findAdmissionFacts: async (call) => {
      // They are sent together; each reads what was committed before its turn.
      const [key, attempt, budget] = await Promise.all([
        findFirst<KeyFactsRow>(runner, selectKeyFactsSql, call),
        findFirst<AttemptRow>(runner, findAttemptSql, call),
        findFirst<BudgetState>(runner, selectBudgetSql, { ledger: budgetLedger(call.projectId) }),
      ])
      return admissionFactsOf({ key, budget, attempt })
    },
    touchKey: async (key) => send(touchKeySql, key),
    updateBucket: async (bucket) => send(updateBucketSql, bucket),
    logCall: async (row) => {
      send(insertCallSql, { ...noDecision, detail: null, ...row })
      countCall(row)
    },
    sweepCalls: async (range) => {
      const sweptRows = await run(deleteOldCallsSql, range)
      if (sweptRows > 0) await run(markSweptSql, range)
      return sweptRows
    },
    attempts: attemptStatements(runner),
    ledger: ledgerStatements(runner),
  }
}

/**
 * Selects the columns of `KeyFactsRow`, and further ones. It locks the project's bucket, so the
 * admissions of a project run one by one.
 */
export function keyFactsSql(furtherColumns = ''): string {
  return `select permissions, "expiresAtUtc", "revokedAtUtc", "lastUsedAtUtc", "sustainedPerS", burst,
      billing, "fullAtUs", "unitMicros"${furtherColumns}
    from keys join projects using ("projectId") join buckets using ("projectId")
    left join prices on prices."accountId" = projects."accountId" and prices.action = :action
    where "keyId" = :keyId and "projectId" = :projectId for update of buckets`
}

const selectKeyFactsSql = keyFactsSql()

export const selectBudgetSql = `select "balanceMicros", "reservedMicros", "headSeq", "headHash",
    "lowAtMicros", "exhaustedAtMicros"
  from ledgers where ledger = :ledger`

export const touchKeySql = 'update keys set "lastUsedAtUtc" = :atUtc where "keyId" = :keyId'

export const updateBucketSql =
  'update buckets set "fullAtUs" = :fullAtUs where "projectId" = :projectId'

export const insertCallSql = `insert into calls ("atMs", "keyId", "projectId", "requestId", action,
    code, "latencyMs", "costMicros", "meteredMicros", "isReplay", "transferId", detail, outcome,
    similarity, "livenessScore", threshold, margin, quality, reason, "nearMiss")
  values (:atMs, :keyId, :projectId, :requestId, :action, :code, :latencyMs, :costMicros,
    :meteredMicros, :isReplay, :transferId, :detail, :outcome, :similarity, :livenessScore,
    :threshold, :margin, :quality, :reason, :nearMiss)`

export const countScoreSql = `insert into "scoreHours" as h ("projectId", kind, "hourMs", bin, count,
    matched)
  values (:projectId, :kind, :hourMs, :bin, 1, :matched)
  on conflict ("projectId", kind, "hourMs", bin)
  do update set count = h.count + 1, matched = h.matched + excluded.matched`

const deleteOldCallsSql = `with listed as materialized (
  select "callId", "atMs" from calls where "atMs" < :beforeMs and coalesce((select "isFrozen" from projects p
    where p."projectId" = calls."projectId"), 0) = 0 order by "atMs" limit :limit
  for update skip locked)
  delete from calls where ("callId", "atMs") in (select "callId", "atMs" from listed)`

/** Records up to when rows of the log were deleted: the audit expects no earlier rows. */
export const markSweptSql = `insert into watermarks (name, "valueMs")
  values ('callsSweptBefore', :beforeMs)
  on conflict (name) do update set "valueMs" = excluded."valueMs"
  where excluded."valueMs" > watermarks."valueMs"`
