import { allActions } from '../../actions/all-actions.ts'
import { auditLedger } from '../../billing/audit-ledger.ts'
import { allocate as allocateMicros, topUp } from '../../billing/ledger.ts'
import { type Micros, formatAmount } from '../../lib/money.ts'
import { type Balance, findBalance } from '../../store/billing/balances.ts'
import { type AccountPrice, listPrices, setPrice } from '../../store/billing/prices.ts'
import { findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import { budgetLedger, walletLedger } from '../../store/tenancy/projects.ts'
import { changeDatabase } from '../audit/audited-change.ts'
import { type CommandValues, formatRows, formatTable, print } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { requireAccountId, requireProject, withProject, withStore } from '../with-store.ts'

type AccountValues = CommandValues<never, 'account'>

export async function addFunds(values: AccountValues & { readonly amount: Micros }) {
  const { amount, account, json } = values
  const { balanceMicros } = await changeDatabase('money.topUp', async ({ db, tx, nowMs }) => {
    const accountId = await requireAccountId({ db }, account)
    await topUp(tx, accountId, amount, nowMs)
    const result = await findBalance(db, walletLedger(accountId))
    return { result, accountId, target: accountId, detail: { amountMicros: String(amount) } }
  })
  const wallet = `wallet: ${formatAmount(balanceMicros)} (${balanceMicros} micros)`
  print({ balanceMicros }, json, () => wallet)
}

export async function showWallet({ account, json }: AccountValues): Promise<void> {
  const result = await withStore(async (store) => {
    const accountId = await requireAccountId(store, account)
    const { balanceMicros } = await findBalance(store.db, walletLedger(accountId))
    const projects = await store.read((tx) => findProjectSummaries(tx, accountId))
    const budgets = projects.map(({ projectId, name: projectName, ...budget }) => ({
      projectId,
      projectName,
      balanceMicros: budget.balanceMicros,
      reservedMicros: budget.reservedMicros,
    }))
    return { balanceMicros, budgets }
  })
  print(result, json, () => {
    const rows = result.budgets.map(({ projectId, projectName, balanceMicros, reservedMicros }) => [
      `budget of ${projectName}`,
      projectId,
      formatAmount(balanceMicros),
      formatAmount(reservedMicros),
    ])
    const walletRow = ['wallet', '', formatAmount(result.balanceMicros), formatAmount(0n)]
    return formatTable(['ledger', 'project', 'balance', 'reserved'], [walletRow, ...rows])
  })
}

/** Moves money from the wallet to a project; a negative amount moves it back. */
export async function allocate(values: CommandValues<'project'> & { readonly amount: Micros }) {
  const { project, amount, json } = values
  const balance = await changeDatabase('money.allocate', async ({ db, tx, nowMs }) => {
    const { accountId, projectId } = await requireProject({ db }, project)
    await allocateMicros(tx, { accountId, projectId }, amount, nowMs)
    const result = await findBalance(db, budgetLedger(projectId))
    const detail = { projectId, amountMicros: String(amount) }
    return { result, accountId, target: projectId, detail }
  })
  printBalance(balance, json)
}

export async function showBudget({ project, json }: CommandValues<'project'>): Promise<void> {
  const balance = await withProject(project, ({ db }, { projectId }) =>
    findBalance(db, budgetLedger(projectId)),
  )
  printBalance(balance, json)
}

function printBalance({ balanceMicros, reservedMicros }: Balance, isJson: boolean): void {
  const budget = `budget: ${formatAmount(balanceMicros)} (${balanceMicros} micros)`
  const reserved = `${formatAmount(reservedMicros)} of it reserved`
  print({ balanceMicros, reservedMicros }, isJson, () => `${budget}, ${reserved}`)
}

export async function showPrices({ account, json }: AccountValues): Promise<void> {
  const defaultMicros = readSettings().UNIT_PRICE_MICROS
  const accountPrices = await withStore(async (store) =>
    listPrices(store.db, await requireAccountId(store, account)),
  )
  const prices = allActions.map(({ name }): AccountPrice => {
    const accountPrice = accountPrices.find(({ action }) => action === name)
    return { action: name, unitMicros: accountPrice?.unitMicros ?? defaultMicros }
  })
  print(prices, json, () => priceTable(prices))
}

export async function setUnitPrice({
  action,
  unit,
  account,
  json,
}: CommandValues<'action', 'account'> & { readonly unit: bigint }): Promise<void> {
  const changed = { action, unitMicros: unit }
  await changeDatabase('money.setPrice', async ({ db }) => {
    const accountId = await requireAccountId({ db }, account)
    await setPrice(db, accountId, changed)
    const detail = { unitMicros: String(unit) }
    return { result: undefined, accountId, target: action, detail }
  })
  print(changed, json, () => priceTable([changed]))
}

function priceTable(prices: readonly AccountPrice[]): string {
  const price = ({ unitMicros }: AccountPrice) => formatAmount(unitMicros)
  return formatRows(prices, { action: 'action', 'unit price': price, micros: 'unitMicros' })
}

export async function verifyLedger({ json }: { readonly json: boolean }): Promise<void> {
  const checks = await withStore(({ db }) => auditLedger(db, Date.now()))
  const broken = checks.filter((check) => !check.ok).map((check) => check.name)
  print({ ok: broken.length === 0, checks }, json, () =>
    formatTable(
      ['', '', ''],
      checks.map(({ name, ok, detail }) => [name, ok ? 'ok' : 'BROKEN', detail]),
    ).trimStart(),
  )
  if (broken.length > 0) throw new Error(`the ledger breaks ${broken.join(', ')}`)
}
