import { classifyLiveness, type LivenessDecision } from '../../actions/parts/classify-liveness.ts'
import { apcerAt, equalErrorRate, shareAtLeast, type DetCurve } from './det-curve.ts'
import type { AnalyzedPresentation, PresentationResult } from './analyze-presentations.ts'
import { liveKind } from './read-presentations.ts'

/** The decisions for all presentations of one kind, as counts. */
export type KindReport = ReturnType<typeof kindReport>

export type LivenessReport = ReturnType<typeof createLivenessReport>

/**
 * Returns a report with the terms of ISO/IEC 30107-3.
 *
 * @throws Error when no live presentation or no attack has a face.
 */
export function createLivenessReport(results: readonly PresentationResult[]) {
  const curves = detCurvesOf(results)
  const first = results.find((result) => 'face' in result)
  if (!first || !('face' in first)) throw new Error('no face was found in any image')
  const threshold = first.face.liveness.liveMin
  const attacks = curves.map((curve) => attackReport(curve, threshold))
  const bpcer = 1 - shareAtLeast(curves[0]?.live ?? [], threshold)
  const apcer = Math.max(...attacks.map((attack) => attack.apcer))
  return {
    /** "id@version" of the networks. */
    networks: first.analysis.providers['liveness'] ?? '',
    threshold,
    /** Rates by score alone, the usual comparison of networks. APCER is that of the worst kind. */
    byScore: { apcer, bpcer, acer: (apcer + bpcer) / 2, attacks },
    asAnswered: decisionReport(results),
    unusable: results.flatMap((result) =>
      'unusable' in result ? [{ file: result.file, reason: result.unusable }] : [],
    ),
  }
}

/** Returns one curve per kind of attack, each against all live faces. */
export function detCurvesOf(results: readonly PresentationResult[]): DetCurve[] {
  const scores = (kind: string): number[] =>
    results.flatMap((result) =>
      'face' in result && result.kind === kind ? [result.face.liveness.score] : [],
    )
  const live = scores(liveKind)
  const curves = kindsOf(results)
    .filter((kind) => kind !== liveKind)
    .map((name) => ({ name, live, attacks: scores(name) }))
    .filter(({ attacks }) => attacks.length > 0)
  if (live.length === 0 || curves.length === 0)
    throw new Error('the set needs a face in at least one live image and in one attack')
  return curves
}

function kindsOf(results: readonly PresentationResult[]): string[] {
  return [...new Set(results.map(({ kind }) => kind))].sort()
}

/** Reports attacks of one kind by score alone, without the other rules of the decision. */
function attackReport(curve: DetCurve, threshold: number) {
  return {
    kind: curve.name,
    /** Share of the attacks with a face whose score reaches the threshold. */
    apcer: shareAtLeast(curve.attacks, threshold),
    apcerAtBpcer: [0.01, 0.05, 0.1].map((bpcer) => ({ bpcer, apcer: apcerAt(curve, bpcer) })),
    equalErrorRate: equalErrorRate(curve),
  }
}

/**
 * Returns rates of the decisions of `svc.liveness`. `uncertain` and missing faces are non-responses. They
 * are reported separately and count neither in APCER (attacks classified as live) nor in BPCER (live
 * people classified as spoofs).
 */
function decisionReport(results: readonly PresentationResult[]) {
  const kinds = kindsOf(results).map((kind) => kindReport(kind, results))
  const attacks = kinds.filter(({ kind }) => kind !== liveKind)
  const people = kinds.filter(({ kind }) => kind === liveKind)
  const worstShare = (
    reports: readonly KindReport[],
    count: (report: KindReport) => number,
  ): number => Math.max(...reports.map((report) => count(report) / report.presentations))
  const nonResponses = ({ uncertain, unusable }: KindReport): number => uncertain + unusable
  return {
    apcer: worstShare(attacks, ({ live }) => live),
    bpcer: worstShare(people, ({ spoof }) => spoof),
    attackNonResponse: worstShare(attacks, nonResponses),
    bonaFideNonResponse: worstShare(people, nonResponses),
    kinds,
  }
}

function kindReport(kind: string, results: readonly PresentationResult[]) {
  const ofKind = results.filter((result) => result.kind === kind)
  const decisions = ofKind.flatMap((result) => ('face' in result ? [decisionOf(result)] : []))
  const uncertain = decisions.filter(({ decision }) => decision === 'uncertain')
  const count = (name: LivenessDecision['decision']): number =>
    decisions.filter(({ decision }) => decision === name).length
  return {
    kind,
    presentations: ofKind.length,
    live: count('live'),
    spoof: count('spoof'),
    uncertain: uncertain.length,
    /** Splits `uncertain`; the most frequent reason first. */
    uncertainReasons: countReasons(uncertain),
    /** Presentations without a usable face. */
    unusable: ofKind.length - decisions.length,
  }
}

/** Decides like `svc.liveness` with its defaults. */
function decisionOf({ face, analysis }: AnalyzedPresentation): LivenessDecision {
  return classifyLiveness(face, analysis, { threshold: undefined, requireSingleFace: true })
}

/** Counts how often a reason made a decision uncertain. */
function countReasons(decisions: readonly LivenessDecision[]) {
  const reasons = new Set(decisions.flatMap((decision) => decision.reasons))
  return [...reasons]
    .map((reason) => {
      const having = decisions.filter((decision) => decision.reasons.includes(reason))
      const alone = having.filter((decision) => decision.reasons.length === 1).length
      return {
        reason,
        /** Uncertain decisions with this reason. One decision can have several reasons. */
        images: having.length,
        /** Uncertain decisions with this reason and no other. */
        alone,
      }
    })
    .toSorted((a, b) => b.images - a.images)
}
