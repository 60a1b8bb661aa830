import { takeToken, type RateLimits, type TokenBucketResult } from './limit.ts'

const trackedAddressesMax = 10_000

/**
 * Creates one token bucket per client address, in memory. Above the maximum number of addresses,
 * the one with the oldest request is dropped.
 *
 * @param nowUs the current time in microseconds.
 */
export function createAddressBuckets(
  limits: RateLimits,
  nowUs: () => number,
): (address: string) => TokenBucketResult {
  const fullAtUsByAddress = new Map<string, number>()
  return (address) => {
    const tokens = takeToken(limits, fullAtUsByAddress.get(address) ?? null, nowUs())
    fullAtUsByAddress.delete(address)
    const [oldest] = fullAtUsByAddress.keys()
    if (fullAtUsByAddress.size >= trackedAddressesMax && oldest !== undefined)
      fullAtUsByAddress.delete(oldest)
    fullAtUsByAddress.set(address, tokens.fullAtUs)
    return tokens
  }
}
