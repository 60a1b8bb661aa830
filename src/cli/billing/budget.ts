import { parseArgs } from 'node:util'
import { allocate as move } from '../../billing/ledger.ts'
import { findBalance, type Balance } from '../../store/billing/balances.ts'
import { budgetLedger } from '../../store/tenancy/projects.ts'
import { print, requireProject, subcommands, withStore } from '../with-store.ts'
import type { CliCommand } from '../command.ts'
import { parseAmountOption, joinAmountOption } from './amount-option.ts'

const json = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

export const budget: CliCommand = {
  name: 'budget',
  summary: 'move money between the wallet and a project, show its budget',
  usage: `facegate budget allocate --project <project> --amount <micros> [--json]
facegate budget show --project <project> [--json]

  A negative amount goes back to the wallet.`,
  run: subcommands({ allocate, show }),
}

async function allocate(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: joinAmountOption(args),
    options: { project: text, amount: text, json },
  })
  const amountMicros = parseAmountOption(values.amount)
  const held = await withStore(async (store) => {
    const project = await requireProject(store, values.project)
    await store.write((tx) => move(tx, project, amountMicros, Date.now()))
    return findBalance(store.db, budgetLedger(project.projectId))
  })
  printBalance(held, values.json)
}

async function show(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { project: text, json } })
  const held = await withStore(async (store) => {
    const { projectId } = await requireProject(store, values.project)
    return findBalance(store.db, budgetLedger(projectId))
  })
  printBalance(held, values.json)
}

function printBalance({ balanceMicros, reservedMicros }: Balance, isJson: boolean): void {
  print(
    { balanceMicros, reservedMicros },
    isJson,
    () => `the budget holds ${balanceMicros} micros, ${reservedMicros} of them reserved`,
  )
}
