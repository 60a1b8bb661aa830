import type { ChallengeReason } from '../../../src/vision/liveness/challenge/challenge-judgement.ts'
import type { SequenceResult } from './judge-sequences.ts'

/** The judgements of all sequences of one kind, as counts. */
export type SequenceKindReport = {
  /** `live` or the kind of attack. */
  readonly kind: string
  readonly sequences: number
  readonly passed: number
  /** Sequences with a frame without a usable face. */
  readonly unusable: number
  /** A sequence can have several reasons. */
  readonly reasons: Readonly<Partial<Record<ChallengeReason, number>>>
  /** Refused sequences whose labels state reasons, none of which was given. */
  readonly otherReason: number
}

export type SequenceReport = {
  readonly kinds: readonly SequenceKindReport[]
  /** The attacks that passed, and the live sequences that did not, with their reasons. */
  readonly errors: readonly {
    readonly folder: string
    readonly kind: string
    readonly reasons: readonly string[]
  }[]
}

const liveSequenceKind = 'live'

export function createSequenceReport(results: readonly SequenceResult[]): SequenceReport {
  const kinds = Map.groupBy(results, ({ kind }) => kind)
  return {
    kinds: [...kinds]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([kind, ofKind]) => kindReport(kind, ofKind)),
    errors: results
      .filter((result) => hasPassed(result) !== (result.kind === liveSequenceKind))
      .map((result) => ({
        folder: result.folder,
        kind: result.kind,
        reasons: 'judgement' in result ? result.judgement.reasons : [result.unusable],
      })),
  }
}

function kindReport(kind: string, results: readonly SequenceResult[]): SequenceKindReport {
  const reasons: Partial<Record<ChallengeReason, number>> = {}
  for (const result of results)
    if ('judgement' in result)
      for (const reason of result.judgement.reasons) reasons[reason] = (reasons[reason] ?? 0) + 1
  return {
    kind,
    sequences: results.length,
    passed: results.filter(hasPassed).length,
    unusable: results.filter((result) => 'unusable' in result).length,
    reasons,
    otherReason: results.filter(hasOtherReason).length,
  }
}

function hasPassed(result: SequenceResult): boolean {
  return 'judgement' in result && result.judgement.passed
}

function hasOtherReason(result: SequenceResult): boolean {
  if (!('judgement' in result) || result.judgement.passed) return false
  const { expectedReasons, judgement } = result
  return (
    expectedReasons.length > 0 &&
    !judgement.reasons.some((reason) => expectedReasons.includes(reason))
  )
}
