import type { ActionInfo } from '../api/responses.ts'

/** Returns the price of a number of successful calls or images of an action. */
export function callMicros({ unitMicros, unitsPerCall }: ActionInfo['price'], count = 1): bigint {
  return BigInt(unitMicros) * BigInt(unitsPerCall) * BigInt(count)
}
