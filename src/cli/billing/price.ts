import { allActions } from '../../actions/all-actions.ts'
import { listPrices, setPrice, type AccountPrice } from '../../store/billing/prices.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { formatAmount } from '../../lib/money.ts'
import { type CommandValues, formatRows, print } from '../command.ts'
import { readSettings } from '../read-settings.ts'
import { requireAccountId, withStore } from '../with-store.ts'

export async function show({ account, json }: CommandValues<never, 'account'>): Promise<void> {
  const defaultMicros = readSettings().UNIT_PRICE_MICROS
  const accountPrices = await withStore(async (store) =>
    listPrices(store.db, await requireAccountId(store, account)),
  )
  const prices = allActions.map(({ name }): AccountPrice => {
    const accountPrice = accountPrices.find(({ action }) => action === name)
    return { action: name, unitMicros: accountPrice?.unitMicros ?? defaultMicros }
  })
  print(prices, json, () => table(prices))
}

export async function set({
  action,
  unit,
  account,
  json,
}: CommandValues<'action', 'account'> & { readonly unit: bigint }): Promise<void> {
  const changed = { action, unitMicros: unit }
  await withStore(async (store) => {
    const accountId = await requireAccountId(store, account)
    await auditedChange(store, 'money.setPrice', async ({ db }) => {
      await setPrice(db, accountId, changed)
      const detail = { unitMicros: String(unit) }
      return { result: undefined, accountId, target: action, detail }
    })
  })
  print(changed, json, () => table([changed]))
}

function table(prices: readonly AccountPrice[]): string {
  const price = ({ unitMicros }: AccountPrice) => formatAmount(unitMicros)
  return formatRows(prices, { action: 'action', 'unit price': price, micros: 'unitMicros' })
}
