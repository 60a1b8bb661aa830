import { allocate as allocateMicros } from '../../billing/ledger.ts'
import { findBalance, type Balance } from '../../store/billing/balances.ts'
import { budgetLedger } from '../../store/tenancy/projects.ts'
import { subcommands, type CliCommand } from '../command.ts'
import { parseOptions, text } from '../options.ts'
import { print } from '../output.ts'
import { requireProject, withStore } from '../with-store.ts'
import { parseAmountOption, joinAmountOption } from './amount-option.ts'

export const budget: CliCommand = {
  name: 'budget',
  summary: 'move money between the wallet and a project, show the budget of a project',
  usage: `facegate budget allocate --project <project> --amount <micros> [--json]
facegate budget show --project <project> [--json]

  A negative amount moves money back to the wallet.`,
  run: subcommands({ allocate, show }),
}

async function allocate(args: readonly string[]): Promise<void> {
  const { project, amount, json } = parseOptions(joinAmountOption(args), {
    project: text,
    amount: text,
  })
  const amountMicros = parseAmountOption(amount)
  const balance = await withStore(async (store) => {
    const { accountId, projectId } = await requireProject(store, project)
    await store.write((tx) =>
      allocateMicros(tx, { accountId, projectId }, amountMicros, Date.now()),
    )
    return findBalance(store.db, budgetLedger(projectId))
  })
  printBalance(balance, json)
}

async function show(args: readonly string[]): Promise<void> {
  const { project, json } = parseOptions(args, { project: text })
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
    () => `budget: ${balanceMicros} micros, ${reservedMicros} of them reserved`,
  )
}
