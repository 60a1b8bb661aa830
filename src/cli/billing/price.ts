import { allActions } from '../../actions/all-actions.ts'
import { readConfig } from '../../config.ts'
import { parseMicros } from '../../lib/money.ts'
import { listPrices, setPrice, type AccountPrice } from '../../store/billing/prices.ts'
import { subcommands, UsageError, type CliCommand } from '../command.ts'
import { parseArguments, parseOptions, requireArgument, requireOption, text } from '../options.ts'
import { formatTable, print } from '../output.ts'
import { requireAccountId, withStore } from '../with-store.ts'

export const price: CliCommand = {
  name: 'price',
  summary: 'show and set the unit price of each action',
  usage: `facegate price show [--json]
facegate price set <action> --unit <micros> [--json]

  A successful call costs its units times the unit price. The page /docs of the
  service lists the units.`,
  run: subcommands({ show, set }),
}

async function show(args: readonly string[]): Promise<void> {
  const { json } = parseOptions(args, {})
  const defaultMicros = readConfig(process.env).UNIT_PRICE_MICROS
  const accountPrices = await withStore(async (store) =>
    listPrices(store.db, await requireAccountId(store)),
  )
  const prices = allActions.map(({ name }): AccountPrice => {
    const accountPrice = accountPrices.find(({ action }) => action === name)
    return { action: name, unitMicros: accountPrice?.unitMicros ?? defaultMicros }
  })
  print(prices, json, () => table(prices))
}

async function set(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, { unit: text })
  const changed = {
    action: parseAction(requireArgument(positionals, '<action>')),
    unitMicros: parseUnitPrice(requireOption(values.unit, 'the unit price', '--unit <micros>')),
  }
  await withStore(async (store) => setPrice(store.db, await requireAccountId(store), changed))
  print(changed, values.json, () => table([changed]))
}

function parseAction(name: string): string {
  const names = allActions.map((action) => action.name as string)
  if (!names.includes(name))
    throw new UsageError(`${name} is not an action; use one of ${names.join(', ')}`)
  return name
}

function parseUnitPrice(value: string): bigint {
  if (!/^\d{1,18}$/u.test(value))
    throw new UsageError(`--unit must be a whole number of micros, 0 or more, not ${value}`)
  return parseMicros(value)
}

function table(prices: readonly AccountPrice[]): string {
  const rows = prices.map(({ action, unitMicros }) => [action, String(unitMicros)])
  return formatTable(['action', 'unit price (micros)'], rows)
}
