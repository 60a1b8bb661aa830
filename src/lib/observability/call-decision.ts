import { roundTo } from '../round-to.ts'

/** What a call can decide. `ambiguous`: a match of svc.identify whose next subject is as likely. */
export const callOutcomes = [
  'match',
  'no_match',
  'ambiguous',
  'live',
  'spoof',
  'uncertain',
  'passed',
  'failed',
] as const

export type DecisionOutcome = (typeof callOutcomes)[number]

/** What a call decided, in numbers: nothing in it refers to a person. */
export type CallDecision = {
  readonly outcome: DecisionOutcome
  /** Of the most similar subject, or of the two images; null if nothing was compared. */
  readonly similarity: number | null
  /** The score of a liveness check; null for a comparison. */
  readonly livenessScore: number | null
  /** The limit of `similarity` or `livenessScore`. */
  readonly threshold: number
  /** The similarity minus that of the next subject for the same face; null without a next one. */
  readonly margin: number | null
  /** 0..100, of the face; null for a stored face. */
  readonly quality: number | null
  /** Why the result is not certain: reasons of svc.liveness, separated by commas; null if none. */
  readonly reason: string | null
}

/** The decision in a row of the request log; all fields are null for a call without one. */
export type DecisionColumns = {
  readonly [Name in keyof CallDecision]: CallDecision[Name] | null
} & { readonly nearMiss: 0 | 1 }

/** The largest distance of a near miss below its threshold. */
const nearMissDistanceMax = 0.05

const successes: ReadonlySet<DecisionOutcome> = new Set(['match', 'live', 'passed'])
const open: ReadonlySet<DecisionOutcome> = new Set(['ambiguous', 'uncertain'])

/**
 * Returns the decision of a call with several faces or images: that of the best one. A success is
 * better than an open result, and that is better than a failure; among equals the higher score counts.
 */
export function bestDecision(decisions: readonly CallDecision[]): CallDecision | undefined {
  return decisions.toSorted((a, b) => rankOf(b) - rankOf(a) || scoreOf(b) - scoreOf(a))[0]
}

function rankOf({ outcome }: CallDecision): number {
  if (isSuccess(outcome)) return 2
  return open.has(outcome) ? 1 : 0
}

export function isSuccess(outcome: DecisionOutcome): boolean {
  return successes.has(outcome)
}

function scoreOf({ similarity, livenessScore }: CallDecision): number {
  return similarity ?? livenessScore ?? -1
}

/** Returns the columns of the request log for the decision of a call. */
export function decisionColumns(decision: CallDecision | undefined): DecisionColumns {
  if (!decision) return noDecision
  const { outcome, similarity, livenessScore, threshold, margin, quality, reason } = decision
  const nearMiss = isNearMiss(decision) ? 1 : 0
  // Without a spread object: a property after one takes longer.
  return { outcome, similarity, livenessScore, threshold, margin, quality, reason, nearMiss }
}

/** Whether the score is below the threshold by at most `nearMissDistanceMax`. */
export function isNearMiss(decision: CallDecision): boolean {
  const distance = roundTo(decision.threshold - scoreOf(decision), 4)
  return distance > 0 && distance <= nearMissDistanceMax
}

/** The columns of a call without a decision. */
export const noDecision: DecisionColumns = {
  outcome: null,
  similarity: null,
  livenessScore: null,
  threshold: null,
  margin: null,
  quality: null,
  reason: null,
  nearMiss: 0,
}
