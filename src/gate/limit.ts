/** What a project may ask: requests per second in the long run, and at once. */
export type RateLimits = { readonly sustainedPerS: number; readonly burst: number }

/** A bucket after it was asked for a token. */
export type TokenBucketResult = {
  readonly isAllowed: boolean
  /** When the bucket will be full again, by the steady clock. */
  readonly fullAtUs: number
  readonly burst: number
  readonly remaining: number
  /** Whole seconds until the bucket is full, and until there is a token again. */
  readonly resetS: number
  readonly retryAfterS: number
}

const usPerS = 1_000_000

/** Clocks of servers on one database, and a call's moment and its turn, are not further apart. */
const clockSkewUsMax = usPerS

/**
 * Is there a token left? A token bucket in whole microseconds (the generic cell rate algorithm): all
 * that is kept is the moment at which the bucket is full again, and each token puts it off by one
 * interval. Burst and sustained rate are one decision, so that neither can be spent without the
 * other. A debt far beyond one whole bucket only comes of a clock that was set back before a restart:
 * it is forgiven down to that, so that nobody waits longer than one interval. A little beyond, it is
 * another server's clock that is ahead, and forgiving it would give tokens away at every refusal.
 */
export function takeToken(
  limits: RateLimits,
  fullAtUs: number | null,
  nowUs: number,
): TokenBucketResult {
  const intervalUs = Math.ceil(usPerS / limits.sustainedPerS)
  const capacityUs = limits.burst * intervalUs
  const owedUs = Math.max((fullAtUs ?? nowUs) - nowUs, 0)
  const debtUs = owedUs > capacityUs + clockSkewUsMax ? capacityUs : owedUs
  const isAdmitted = debtUs + intervalUs <= capacityUs
  const leftUs = isAdmitted ? debtUs + intervalUs : debtUs
  return {
    isAllowed: isAdmitted,
    fullAtUs: nowUs + leftUs,
    burst: limits.burst,
    remaining: Math.max(0, Math.floor((capacityUs - leftUs) / intervalUs)),
    resetS: Math.ceil(leftUs / usPerS),
    retryAfterS: Math.max(1, Math.ceil((debtUs + intervalUs - capacityUs) / usPerS)),
  }
}

/** The headers of every answer behind the key. */
export function limitHeaders(tokens: TokenBucketResult): Readonly<Record<string, string>> {
  return {
    'ratelimit-limit': String(tokens.burst),
    'ratelimit-remaining': String(tokens.remaining),
    'ratelimit-reset': String(tokens.resetS),
    ...(!tokens.isAllowed && { 'retry-after': String(tokens.retryAfterS) }),
  }
}
