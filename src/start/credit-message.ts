import type { Config } from '../config.ts'

/** Returns the paragraph of the first start about the starter credit, and what follows it. */
export function creditMessage(
  config: Pick<Config, 'STARTER_CREDIT_MICROS' | 'UNIT_PRICE_MICROS'>,
): string {
  const { STARTER_CREDIT_MICROS: creditMicros, UNIT_PRICE_MICROS: unitMicros } = config
  const units = unitMicros > 0n ? (creditMicros / unitMicros).toLocaleString('en') : 'unlimited'
  return `The project default has a starter credit of ${units} price units; svc.detect costs 1, svc.enroll and
svc.identify cost 2. When it is used up, calls end with PAYMENT_REQUIRED. To add as much again:

  npx facegate wallet top-up --amount ${creditMicros > 0n ? creditMicros : 10_000_000n}
  npx facegate budget allocate --project default --amount ${creditMicros > 0n ? creditMicros : 10_000_000n}

To switch billing off, so that calls are metered but never refused for the budget:

  npx facegate project set default --billing off`
}
