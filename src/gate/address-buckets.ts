import { networkOf } from '../lib/limits/client-network.ts'
import { takeToken, type RateLimits, type TokenBucketResult } from '../lib/limits/token-bucket.ts'

const trackedNetworksMax = 10_000

/**
 * Creates one token bucket per client network (see `networkOf`), in memory. Above the maximum number
 * of networks, the one with the oldest request is dropped.
 *
 * @param nowUs the current time in microseconds.
 */
export function createAddressBuckets(
  limits: RateLimits,
  nowUs: () => number,
): (address: string) => TokenBucketResult {
  const fullAtUsByNetwork = new Map<string, number>()
  return (address) => {
    const network = networkOf(address)
    const tokens = takeToken(limits, fullAtUsByNetwork.get(network) ?? null, nowUs())
    fullAtUsByNetwork.delete(network)
    const [oldest] = fullAtUsByNetwork.keys()
    if (fullAtUsByNetwork.size >= trackedNetworksMax && oldest !== undefined)
      fullAtUsByNetwork.delete(oldest)
    fullAtUsByNetwork.set(network, tokens.fullAtUs)
    return tokens
  }
}
