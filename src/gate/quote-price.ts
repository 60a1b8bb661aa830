import type { Micros } from '../lib/money.ts'
import { paymentRequired } from '../store/gate/admission-rule.ts'
import { errorOf } from './admission/admit-transaction.ts'
import { priceUnitsOf } from './admission/admit-request.ts'
import type { CallContent } from './call-states.ts'
import type { KeyDescription } from './gate.ts'

export type Quote = { readonly priceMicros: Micros; readonly isBilled: boolean }

/**
 * Returns the price of a call if every image succeeds. Nothing is reserved.
 *
 * @throws ActionError PAYMENT_REQUIRED if the budget of the project does not cover it now.
 */
export function quotePrice(
  { isBilled, availableMicros, unitMicrosOf }: KeyDescription,
  content: Pick<CallContent, 'action' | 'params'> & { readonly name: string },
): Quote {
  const priceMicros = BigInt(priceUnitsOf(content, 0)) * unitMicrosOf(content.name)
  if (isBilled && priceMicros > 0n && availableMicros < priceMicros) throw errorOf(paymentRequired)
  return { priceMicros, isBilled }
}
