import type { LivenessResultValue } from './action-values.ts'
import { formatCount } from '../../format/numbers.ts'

export type FalseMatchPoint = { readonly similarity: number; readonly rate: number }

/** A false-match rate. Outside the measured similarities only a limit is available. */
export type FalseMatchRate = {
  readonly rate: number
  readonly kind: 'about' | 'atMost' | 'atLeast'
}

/**
 * Returns the share of pairs of different people that reach a similarity: interpolated between the
 * points of the calibration, on a logarithmic scale.
 */
export function falseMatchRateAt(
  points: readonly FalseMatchPoint[],
  similarity: number,
): FalseMatchRate | undefined {
  const sorted = points.toSorted((a, b) => a.similarity - b.similarity)
  const upper = sorted.find((point) => point.similarity >= similarity)
  const lower = sorted.findLast((point) => point.similarity <= similarity)
  if (lower && upper) {
    const span = upper.similarity - lower.similarity
    const share = span === 0 ? 0 : (similarity - lower.similarity) / span
    const [from, to] = [Math.log10(lower.rate), Math.log10(upper.rate)]
    return { rate: 10 ** (from + share * (to - from)), kind: 'about' }
  }
  if (lower) return { rate: lower.rate, kind: 'atMost' }
  return upper && { rate: upper.rate, kind: 'atLeast' }
}

const kindTexts = { about: 'about', atMost: 'at most', atLeast: 'at least' } as const

/** Formats a rate: `about 1 of 10 000 pairs of different people`. */
export function formatRate({ rate, kind }: FalseMatchRate): string {
  const pairs = Number((1 / rate).toPrecision(2))
  return `${kindTexts[kind]} 1 of ${formatCount(Math.round(pairs))} pairs of different people`
}

export type JudgedVerdict = LivenessResultValue['decision'] | 'notLive'

/** The fields of a liveness result that its decision depends on. */
export type JudgedLiveness = Pick<LivenessResultValue, 'decision' | 'score' | 'threshold'> & {
  readonly reasons: readonly LivenessResultValue['reasons'][number][]
}

/**
 * Decides a liveness result again with another threshold, by the rules of the service. The response
 * does not contain the limit of `spoof`: a result that is no longer live can be a spoof or uncertain.
 */
export function judgeLiveness(
  { decision, score, reasons, ...result }: JudgedLiveness,
  threshold = result.threshold,
): JudgedVerdict {
  const isUnrelated =
    decision === 'uncertain' && reasons.some((reason) => !scoreReasons.has(reason))
  if (threshold === result.threshold || isUnrelated) return decision
  if (score >= threshold) return reasons.includes('MULTIPLE_FACES') ? 'uncertain' : 'live'
  if (decision === 'spoof') return 'spoof'
  return decision === 'uncertain' && reasons.includes('INCONCLUSIVE') ? 'uncertain' : 'notLive'
}

/** The reasons that do not make a decision uncertain at every score. */
const scoreReasons: ReadonlySet<string> = new Set(['INCONCLUSIVE', 'MULTIPLE_FACES'])
