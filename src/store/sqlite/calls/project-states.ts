import type { DatabaseSync } from 'node:sqlite'
import type { BudgetState } from '../../gate/admission-facts.ts'
import { selectBudgetSql, updateBucketSql } from '../../gate/call-statements.ts'
import { budgetLedger } from '../../tenancy/projects.ts'
import { prepare } from '../connection.ts'

/**
 * The rows that all calls of a project change: its token bucket and its budget. The calls of one
 * transaction change them in memory, and `flush` writes each row once. Between `flush` and the next
 * change, any other statement may read and write these rows.
 */
export type ProjectStates = ReturnType<typeof createProjectStates>

type CachedBudget = { stored: BudgetState; current: BudgetState }

export function createProjectStates(connection: DatabaseSync) {
  const budgets = new Map<string, CachedBudget>()
  const buckets = new Map<string, number>()
  const selectBudget = prepare<BudgetState>(connection, selectBudgetSql)
  const writeBudget = prepareWriteBudget(connection)
  const updateBucket = prepare(connection, updateBucketSql)
  const reset = (): void => {
    budgets.clear()
    buckets.clear()
  }
  return {
    budgetOf: (projectId: string): BudgetState | undefined => {
      const cached = budgets.get(projectId)
      if (cached) return cached.current
      const stored = selectBudget.first({ ledger: budgetLedger(projectId) })
      if (stored) budgets.set(projectId, { stored, current: stored })
      return stored
    },
    setBudget: (projectId: string, next: BudgetState): void => {
      const cached = budgets.get(projectId)
      if (!cached) throw new Error('a budget is read before it is changed')
      if (!crossesLimit(cached.current, next)) {
        cached.current = next
        return
      }
      // The triggers add an event with the balance of the call that crossed the limit.
      writeBudget(projectId, cached)
      writeBudget(projectId, { stored: cached.current, current: next })
      budgets.delete(projectId)
    },
    /** @param stored the value that was read in this transaction. */
    bucketOf: (projectId: string, stored: number): number => buckets.get(projectId) ?? stored,
    setBucket: (projectId: string, fullAtUs: number): void => void buckets.set(projectId, fullAtUs),
    /** Writes all changes and forgets all rows. */
    flush: (): void => {
      for (const [projectId, budget] of budgets) writeBudget(projectId, budget)
      for (const [projectId, fullAtUs] of buckets) updateBucket.run({ projectId, fullAtUs })
      reset()
    },
    /** Forgets all changes, because their transaction was rolled back. */
    reset,
  }
}

/** Whether a change of the balance fires a trigger of `budget.low` or `budget.exhausted`. */
function crossesLimit(
  { balanceMicros: before, lowAtMicros, exhaustedAtMicros }: BudgetState,
  { balanceMicros }: BudgetState,
): boolean {
  if (balanceMicros === before) return false
  const isAtMost = (limit: bigint | null): boolean => limit !== null && balanceMicros <= limit
  return isAtMost(lowAtMicros) || isAtMost(exhaustedAtMicros)
}

/** Returns a function that writes a changed budget. Unchanged columns must fire no trigger. */
function prepareWriteBudget(connection: DatabaseSync) {
  const setReserved = prepare(
    connection,
    'update ledgers set reservedMicros = :reservedMicros where ledger = :ledger',
  )
  const setAll = prepare(
    connection,
    `update ledgers set reservedMicros = :reservedMicros, balanceMicros = :balanceMicros,
       headSeq = :headSeq, headHash = :headHash
     where ledger = :ledger`,
  )
  return (projectId: string, { stored, current }: CachedBudget): void => {
    if (current === stored) return
    const { balanceMicros, reservedMicros, headSeq, headHash } = current
    const row = { ledger: budgetLedger(projectId), reservedMicros }
    if (headSeq === stored.headSeq) setReserved.run(row)
    else setAll.run({ ...row, balanceMicros, headSeq, headHash })
  }
}
