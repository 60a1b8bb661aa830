import { parseArgs } from 'node:util'
import { allActions } from '../actions/all.ts'
import { readConfig } from '../config.ts'
import { parseMicros } from '../lib/money.ts'
import { listPrices, setPrice, type Price } from '../store/prices.ts'
import { columns, print, theAccountId, verbs, withStore } from './admin.ts'
import { UsageError, type Command } from './command.ts'

const json = { type: 'boolean', default: false } as const

export const price: Command = {
  name: 'price',
  summary: 'show and change what a price unit of each action costs',
  usage: `facegate price show [--json]
facegate price set <action> --unit <micros> [--json]

  An ok call costs its units times this; /docs of the service has the units.`,
  run: verbs({ show, set }),
}

async function show(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { json } })
  const general = readConfig(process.env).UNIT_PRICE_MICROS
  const own = await withStore(async (store) => listPrices(store.db, await theAccountId(store)))
  const prices = allActions.map(({ name }): Price => {
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
  const changed = { action: actionOf(positionals), unitMicros: unitOf(values.unit) }
  await withStore(async (store) => setPrice(store.db, await theAccountId(store), changed))
  print(changed, values.json, () => table([changed]))
}

function actionOf([name = 'nothing', ...rest]: readonly string[]): string {
  const names = allActions.map((action) => action.name as string)
  if (rest.length > 0 || !names.includes(name))
    throw new UsageError(`${name} is none of ${names.join(', ')}`)
  return name
}

function unitOf(text: string | undefined): bigint {
  if (text === undefined) throw new UsageError('say how much with --unit <micros>')
  if (!/^\d{1,18}$/u.test(text)) throw new UsageError(`--unit: ${text} is no amount of micros`)
  return parseMicros(text)
}

function table(prices: readonly Price[]): string {
  const rows = prices.map(({ action, unitMicros }) => [action, String(unitMicros)])
  return columns(['action', 'a unit costs (micros)'], rows)
}
