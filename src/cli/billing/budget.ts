import { allocate as allocateMicros } from '../../billing/ledger.ts'
import { findBalance, type Balance } from '../../store/billing/balances.ts'
import { budgetLedger } from '../../store/tenancy/projects.ts'
import { formatAmount, type Micros } from '../../lib/money.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { type CommandValues, print } from '../command.ts'
import { requireProject, withStore } from '../with-store.ts'

/** Moves money from the wallet to a project; a negative amount moves it back. */
export async function allocate({
  project,
  amount,
  json,
}: CommandValues<'project'> & { readonly amount: Micros }): Promise<void> {
  const balance = await withStore(async (store) => {
    const { accountId, projectId } = await requireProject(store, project)
    await auditedChange(store, 'money.allocate', async ({ tx, nowMs }) => {
      const result = await allocateMicros(tx, { accountId, projectId }, amount, nowMs)
      const detail = { projectId, amountMicros: String(amount) }
      return { result, accountId, target: projectId, detail }
    })
    return findBalance(store.db, budgetLedger(projectId))
  })
  printBalance(balance, json)
}

export async function show({ project, json }: CommandValues<'project'>): Promise<void> {
  const balance = await withStore(async (store) => {
    const { projectId } = await requireProject(store, project)
    return findBalance(store.db, budgetLedger(projectId))
  })
  printBalance(balance, json)
}

function printBalance({ balanceMicros, reservedMicros }: Balance, isJson: boolean): void {
  print(
    { balanceMicros, reservedMicros },
    isJson,
    () =>
      `budget: ${formatAmount(balanceMicros)} (${balanceMicros} micros), ` +
      `${formatAmount(reservedMicros)} of it reserved`,
  )
}
