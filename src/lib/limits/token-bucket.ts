/** The rate limit of a project: sustained requests per second, and the burst. */
export type RateLimits = { readonly sustainedPerS: number; readonly burst: number }

/** A token bucket after one token was requested from it. */
export type TokenBucketResult = ReturnType<typeof describeBucket>

const usPerS = 1_000_000

/**
 * The maximum difference between the clocks of servers on one database, and between the time a call
 * read the clock and the time it got its turn.
 */
const clockSkewUsMax = usPerS

/**
 * Takes a token if there is one. This is a token bucket in whole microseconds (the generic cell
 * rate algorithm). It stores only the time at which the bucket is full again; each token moves that
 * time forward by one interval. Burst and sustained rate are one decision, so neither can be used
 * up without the other.
 *
 * A debt of more than one bucket plus the clock skew means that the clock was set back before a
 * restart. It is reduced to one bucket, so that the next token comes after at most one interval.
 * A smaller excess means that another server's clock is ahead. It is kept: reducing it would add
 * tokens with every rejected call.
 */
export function takeToken(
  limits: RateLimits,
  fullAtUs: number | null,
  nowUs: number,
): TokenBucketResult {
  const intervalUs = Math.ceil(usPerS / limits.sustainedPerS)
  const capacityUs = limits.burst * intervalUs
  const storedDebtUs = Math.max((fullAtUs ?? nowUs) - nowUs, 0)
  const debtUs = storedDebtUs > capacityUs + clockSkewUsMax ? capacityUs : storedDebtUs
  const isAllowed = debtUs + intervalUs <= capacityUs
  const debtAfterUs = isAllowed ? debtUs + intervalUs : debtUs
  return describeBucket(limits, { isAllowed, fullAtUs: nowUs + debtAfterUs }, nowUs)
}

/** Describes a bucket after a token was requested from it. */
export function describeBucket(
  limits: RateLimits,
  { isAllowed, fullAtUs }: { readonly isAllowed: boolean; readonly fullAtUs: number },
  nowUs: number,
) {
  const intervalUs = Math.ceil(usPerS / limits.sustainedPerS)
  const capacityUs = limits.burst * intervalUs
  const debtUs = fullAtUs - nowUs
  return {
    isAllowed,
    /** The time at which the bucket is full again, by the steady clock. */
    fullAtUs,
    sustainedPerS: limits.sustainedPerS,
    burst: limits.burst,
    remaining: Math.max(0, Math.floor((capacityUs - debtUs) / intervalUs)),
    /** Whole seconds until the bucket is full, and until the next token. */
    resetS: Math.ceil(debtUs / usPerS),
    retryAfterS: Math.max(1, Math.ceil((debtUs + intervalUs - capacityUs) / usPerS)),
  }
}

/** The rate-limit headers of every response to an authenticated call. */
export function limitHeaders(tokens: TokenBucketResult): Readonly<Record<string, string>> {
  return {
    'ratelimit-limit': String(tokens.burst),
    'ratelimit-remaining': String(tokens.remaining),
    'ratelimit-reset': String(tokens.resetS),
    'ratelimit-policy': `${tokens.sustainedPerS};w=1;burst=${tokens.burst}`,
  }
}
