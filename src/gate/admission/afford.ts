import { reserve } from '../../billing/ledger.ts'
import { ActionError } from '../../lib/errors.ts'
import type { Micros } from '../../lib/money.ts'
import type { Tx } from '../../store/tx.ts'

/**
 * Does the project's budget cover the price? If so, the price is set aside for this call.
 *
 * @throws ActionError PAYMENT_REQUIRED; then nothing was set aside.
 */
export async function afford(tx: Tx, projectId: string, priceMicros: Micros): Promise<void> {
  if (await reserve(tx, projectId, priceMicros)) return
  throw new ActionError('PAYMENT_REQUIRED', 'The budget of the project is exhausted.')
}
