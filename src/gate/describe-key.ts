import { describeBucket, type RateLimits } from '../lib/limits/token-bucket.ts'
import type { Micros } from '../lib/money.ts'
import type { Store } from '../store/database.ts'
import type { Now } from '../store/gate/admission-facts.ts'
import { limitsOf } from '../store/gate/admission-rule.ts'
import { listPrices } from '../store/billing/prices.ts'
import { readKeyDescription } from '../store/tenancy/key-description.ts'
import type { KeyIdentity } from '../store/tenancy/keys.ts'

/** What a caller can find out about its own key. */
export type KeyDescription = {
  readonly keyName: string
  readonly projectName: string
  readonly galleryMode: 'isolated' | 'shared'
  /** The earlier one of the ends of the key and of the sent secret; null: neither ends. */
  readonly expiresAtUtc: string | null
  /** The rate limit of the project, and its tokens now. */
  readonly rateLimit: RateLimits & { readonly remaining: number; readonly resetS: number }
  readonly isBilled: boolean
  /** The part of the budget that is not reserved by running calls. */
  readonly availableMicros: Micros
  readonly reservedMicros: Micros
  /** Returns the price of one unit of an action. */
  readonly unitMicrosOf: (action: string) => Micros
}

export type DescribeKeyOptions = {
  readonly limits: RateLimits
  readonly unitMicros: Micros
}

/** Describes the key of a call, in its account. It locks nothing and consumes no token. */
export async function describeKey(
  store: Pick<Store, 'db' | 'read'>,
  caller: Pick<KeyIdentity, 'keyId' | 'projectId' | 'accountId' | 'formerSecret'>,
  { limits, unitMicros }: DescribeKeyOptions,
  { steadyUs }: Pick<Now, 'steadyUs'>,
): Promise<KeyDescription> {
  const row = await store.read((tx) => readKeyDescription(tx, caller))
  if (!row) throw new Error('the key of an admitted call has no project or no budget')
  const prices = await listPrices(store.db, caller.accountId)
  const unitPrices = new Map(prices.map((price) => [price.action, price.unitMicros]))
  const { keyName, projectName, galleryMode, billing, reservedMicros } = row
  const fullAtUs = Math.max(row.fullAtUs, steadyUs)
  const bucket = describeBucket(limitsOf(row, limits), { isAllowed: true, fullAtUs }, steadyUs)
  const { sustainedPerS, burst, remaining, resetS } = bucket
  const ends = [row.expiresAtUtc ?? [], caller.formerSecret?.endsAtUtc ?? []].flat()
  return {
    keyName,
    projectName,
    galleryMode,
    expiresAtUtc: ends.toSorted()[0] ?? null,
    rateLimit: { sustainedPerS, burst, remaining, resetS },
    isBilled: billing === 1,
    availableMicros: row.balanceMicros - reservedMicros,
    reservedMicros,
    unitMicrosOf: (action) => unitPrices.get(action) ?? unitMicros,
  }
}
