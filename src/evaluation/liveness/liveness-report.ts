import { classifyLiveness } from '../../actions/parts/classify-liveness.ts'
import { apcerAt, equalErrorRate, shareAtLeast } from './det-curve.ts'
import type { DetCurve } from './det-curve.ts'
import type { PresentationResult } from './analyze-presentations.ts'
import { liveKind } from './read-presentations.ts'

/** The decisions for all presentations of one kind, as counts. */
export type KindReport = {
  readonly kind: string
  readonly presentations: number
  readonly live: number
  readonly spoof: number
  readonly uncertain: number
  /** Presentations without a usable face. */
  readonly unusable: number
}

/** Attacks of one kind by score alone, without the other rules of the decision. */
export type AttackReport = {
  readonly kind: string
  /** Share of the attacks with a face whose score reaches the threshold. */
  readonly apcer: number
  readonly apcerAtBpcer: readonly { readonly bpcer: number; readonly apcer: number }[]
  readonly equalErrorRate: number
}

/** Uses the terms of ISO/IEC 30107-3. */
export type LivenessReport = {
  /** "id@version" of the networks. */
  readonly networks: string
  readonly threshold: number
  /** Rates by score alone, the usual comparison of networks. APCER is that of the worst kind. */
  readonly byScore: {
    readonly apcer: number
    readonly bpcer: number
    readonly acer: number
    readonly attacks: readonly AttackReport[]
  }
  /**
   * Rates of the decisions of `svc.liveness`. `uncertain` and missing faces are non-responses. They
   * are reported separately and count neither in APCER (attacks classified as live) nor in BPCER
   * (live people classified as spoofs).
   */
  readonly asAnswered: {
    readonly apcer: number
    readonly bpcer: number
    readonly attackNonResponse: number
    readonly bonaFideNonResponse: number
    readonly kinds: readonly KindReport[]
  }
  readonly unusable: readonly { readonly file: string; readonly reason: string }[]
}

/** @throws Error when no live presentation or no attack has a face. */
export function createLivenessReport(results: readonly PresentationResult[]): LivenessReport {
  const curves = detCurvesOf(results)
  const first = results.find((result) => 'face' in result)
  if (!first || !('face' in first)) throw new Error('no face was found in any image')
  const threshold = first.face.liveness.liveMin
  const attacks = curves.map((curve) => attackReport(curve, threshold))
  const bpcer = 1 - shareAtLeast(curves[0]?.live ?? [], threshold)
  const apcer = Math.max(...attacks.map((attack) => attack.apcer))
  return {
    networks: first.analysis.providers['liveness'] ?? '',
    threshold,
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

function attackReport(curve: DetCurve, threshold: number): AttackReport {
  return {
    kind: curve.name,
    apcer: shareAtLeast(curve.attacks, threshold),
    apcerAtBpcer: [0.01, 0.05, 0.1].map((bpcer) => ({ bpcer, apcer: apcerAt(curve, bpcer) })),
    equalErrorRate: equalErrorRate(curve),
  }
}

function decisionReport(results: readonly PresentationResult[]): LivenessReport['asAnswered'] {
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

function kindReport(kind: string, results: readonly PresentationResult[]): KindReport {
  const ofKind = results.filter((result) => result.kind === kind)
  const counts = { live: 0, spoof: 0, uncertain: 0, unusable: 0 }
  for (const result of ofKind)
    if ('face' in result)
      counts[
        classifyLiveness(result.face, result.analysis, {
          threshold: undefined,
          requireSingleFace: true,
        }).decision
      ]++
    else counts.unusable++
  return { kind, presentations: ofKind.length, ...counts }
}
