import { parseArgs } from 'node:util'
import { allActions } from '../../actions/all-actions.ts'
import { readConfig } from '../../config.ts'
import { parseMicros } from '../../lib/money.ts'
import { listPrices, setPrice, type AccountPrice } from '../../store/billing/prices.ts'
import { formatTable, print, requireAccountId, subcommands, withStore } from '../with-store.ts'
import { UsageError, type CliCommand } from '../command.ts'

const json = { type: 'boolean', default: false } as const

export const price: CliCommand = {
  name: 'price',
  summary: 'show and change what a price unit of each action costs',
  usage: `facegate price show [--json]
facegate price set <action> --unit <micros> [--json]

  An ok call costs its units times this; /docs of the service has the units.`,
  run: subcommands({ show, set }),
}

async function show(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json } })
  const general = readConfig(process.env).UNIT_PRICE_MICROS
  const own = await withStore(async (store) => listPrices(store.db, await requireAccountId(store)))
  const prices = allActions.map(({ name }): AccountPrice => {
    const unitMicros = own.find(({ action }) => action === name)?.unitMicros ?? general
    return { action: name, unitMicros }
  })
  print(prices, values.json, () => table(prices))
}

async function set(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { unit: { type: 'string' }, json },
  })
  const changed = { action: parseAction(positionals), unitMicros: parseUnitPrice(values.unit) }
  await withStore(async (store) => setPrice(store.db, await requireAccountId(store), changed))
  print(changed, values.json, () => table([changed]))
}

function parseAction([name = 'nothing', ...rest]: readonly string[]): string {
  const names = allActions.map((action) => action.name as string)
  if (rest.length > 0 || !names.includes(name))
    throw new UsageError(`${name} is none of ${names.join(', ')}`)
  return name
}

function parseUnitPrice(text: string | undefined): bigint {
  if (text === undefined) throw new UsageError('say how much with --unit <micros>')
  if (!/^\d{1,18}$/u.test(text)) throw new UsageError(`--unit: ${text} is no amount of micros`)
  return parseMicros(text)
}

function table(prices: readonly AccountPrice[]): string {
  const rows = prices.map(({ action, unitMicros }) => [action, String(unitMicros)])
  return formatTable(['action', 'a unit costs (micros)'], rows)
}
