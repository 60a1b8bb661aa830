import { parseArgs } from 'node:util'
import { allocate as move } from '../billing/ledger.ts'
import { balanceOf, type Balance } from '../store/balances.ts'
import { budgetOf } from '../store/projects.ts'
import { print, theProject, verbs, withStore } from './admin.ts'
import type { Command } from './command.ts'
import { amountOf, joinAmount } from './money.ts'

const json = { type: 'boolean', default: false } as const
const text = { type: 'string' } as const

export const budget: Command = {
  name: 'budget',
  summary: 'move money between the wallet and a project, show its budget',
  usage: `facegate budget allocate --project <project> --amount <micros> [--json]
facegate budget show --project <project> [--json]

  A negative amount goes back to the wallet.`,
  run: verbs({ allocate, show }),
}

async function allocate(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: joinAmount(args),
    options: { project: text, amount: text, json },
  })
  const amountMicros = amountOf(values.amount)
  const held = await withStore(async (store) => {
    const project = await theProject(store, values.project)
    await store.write((tx) => move(tx, project, amountMicros, Date.now()))
    return balanceOf(store.db, budgetOf(project.projectId))
  })
  tell(held, values.json)
}

async function show(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { project: text, json } })
  const held = await withStore(async (store) => {
    const { projectId } = await theProject(store, values.project)
    return balanceOf(store.db, budgetOf(projectId))
  })
  tell(held, values.json)
}

function tell({ balanceMicros, reservedMicros }: Balance, isJson: boolean): void {
  print(
    { balanceMicros, reservedMicros },
    isJson,
    () => `the budget holds ${balanceMicros} micros, ${reservedMicros} of them reserved`,
  )
}
