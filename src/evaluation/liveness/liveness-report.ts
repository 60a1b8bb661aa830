import { classifyLiveness } from '../../actions/parts/classify-liveness.ts'
import { apcerAt, equalErrorRate, shareAtLeast } from './det-curve.ts'
import type { DetCurve } from './det-curve.ts'
import type { PresentationResult } from './analyze-presentations.ts'
import { liveKind } from './read-presentations.ts'

/** How the presentations of one kind were decided; shares are of all of them. */
export type KindReport = {
  readonly kind: string
  readonly presentations: number
  /** `svc.liveness` called so many live, spoofs, uncertain; and in so many it found no face to judge. */
  readonly live: number
  readonly spoof: number
  readonly uncertain: number
  readonly unusable: number
}

/** Attacks of one kind by score alone, whatever else the decision heeds. */
export type AttackReport = {
  readonly kind: string
  /** Share of the attacks with a face that score at least the threshold. */
  readonly apcer: number
  readonly apcerAtBpcer: readonly { readonly bpcer: number; readonly apcer: number }[]
  readonly equalErrorRate: number
}

/** The terms are those of ISO/IEC 30107-3. */
export type LivenessReport = {
  /** "id@version" of the networks. */
  readonly networks: string
  readonly threshold: number
  /** By score alone, as such networks are compared. APCER is that of the worst kind. */
  readonly byScore: {
    readonly apcer: number
    readonly bpcer: number
    readonly acer: number
    readonly attacks: readonly AttackReport[]
  }
  /**
   * As `svc.liveness` answers. `uncertain` and faces not found are non-responses: they are in neither
   * APCER (attacks called live) nor BPCER (live people called spoofs), but apart.
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

/** @throws Error when no live face or no attack shows a face. */
export function createLivenessReport(judged: readonly PresentationResult[]): LivenessReport {
  const curves = detCurvesOf(judged)
  const first = judged.find((one) => 'face' in one)
  if (!first || !('face' in first)) throw new Error('no picture shows a face')
  const threshold = first.face.liveness.liveMin
  const attacks = curves.map((curve) => attackReport(curve, threshold))
  const bpcer = 1 - shareAtLeast(curves[0]?.live ?? [], threshold)
  const apcer = Math.max(...attacks.map((attack) => attack.apcer))
  return {
    networks: first.view.providers['liveness'] ?? '',
    threshold,
    byScore: { apcer, bpcer, acer: (apcer + bpcer) / 2, attacks },
    asAnswered: decisionReport(judged),
    unusable: judged.flatMap((one) =>
      'unusable' in one ? [{ file: one.file, reason: one.unusable }] : [],
    ),
  }
}

/** One for each kind of attack, against all live faces. */
export function detCurvesOf(judged: readonly PresentationResult[]): DetCurve[] {
  const scores = (kind: string): number[] =>
    judged.flatMap((one) => ('face' in one && one.kind === kind ? [one.face.liveness.score] : []))
  const lives = scores(liveKind)
  const curves = kindsOf(judged)
    .filter((kind) => kind !== liveKind)
    .map((name) => ({ name, live: lives, attacks: scores(name) }))
    .filter(({ attacks }) => attacks.length > 0)
  if (lives.length === 0 || curves.length === 0)
    throw new Error('there must be faces among the live people and among the attacks')
  return curves
}

function kindsOf(judged: readonly PresentationResult[]): string[] {
  return [...new Set(judged.map(({ kind }) => kind))].sort()
}

function attackReport(curve: DetCurve, threshold: number): AttackReport {
  return {
    kind: curve.name,
    apcer: shareAtLeast(curve.attacks, threshold),
    apcerAtBpcer: [0.01, 0.05, 0.1].map((bpcer) => ({ bpcer, apcer: apcerAt(curve, bpcer) })),
    equalErrorRate: equalErrorRate(curve),
  }
}

function decisionReport(judged: readonly PresentationResult[]): LivenessReport['asAnswered'] {
  const kinds = kindsOf(judged).map((kind) => kindReport(kind, judged))
  const attacks = kinds.filter(({ kind }) => kind !== liveKind)
  const people = kinds.filter(({ kind }) => kind === liveKind)
  const worst = (kindsOfIt: readonly KindReport[], count: (one: KindReport) => number): number =>
    Math.max(...kindsOfIt.map((one) => count(one) / one.presentations))
  const silent = ({ uncertain, unusable }: KindReport): number => uncertain + unusable
  return {
    apcer: worst(attacks, (one) => one.live),
    bpcer: worst(people, (one) => one.spoof),
    attackNonResponse: worst(attacks, silent),
    bonaFideNonResponse: worst(people, silent),
    kinds,
  }
}

function kindReport(kind: string, judged: readonly PresentationResult[]): KindReport {
  const ofKind = judged.filter((one) => one.kind === kind)
  const counts = { live: 0, spoof: 0, uncertain: 0, unusable: 0 }
  for (const one of ofKind)
    if ('face' in one)
      counts[
        classifyLiveness(one.face, one.view, { threshold: undefined, requireSingleFace: true })
          .decision
      ]++
    else counts.unusable++
  return { kind, presentations: ofKind.length, ...counts }
}
