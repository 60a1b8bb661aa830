type Funds = { readonly allocatedMicros: string; readonly balanceMicros: string }

type BudgetUse = {
  /** Spent and reserved funds. */
  readonly usedMicros: bigint
  /** Above 1 if more was spent than allocated; null without allocated funds. */
  readonly share: number | null
}

/** Returns the used part of the allocated funds: everything that is no longer available. */
export function budgetUse({ allocatedMicros, balanceMicros }: Funds): BudgetUse {
  const [allocated, balance] = [BigInt(allocatedMicros), BigInt(balanceMicros)]
  const usedMicros = allocated - balance
  if (allocated > 0n) return { usedMicros, share: Number(usedMicros) / Number(allocated) }
  return { usedMicros, share: usedMicros > 0n ? 1 : null }
}

/** Returns the budgets of projects with billing in the order of their used share, largest first. */
export function byUsedShare<Budget extends Funds & { readonly billing: boolean }>(
  budgets: readonly Budget[],
): readonly Budget[] {
  const order = (budget: Budget): number => (budget.billing ? (budgetUse(budget).share ?? -1) : -2)
  return budgets.toSorted((a, b) => order(b) - order(a))
}
