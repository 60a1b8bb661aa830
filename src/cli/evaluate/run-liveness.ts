import { drawDetCurves } from '../../evaluation/liveness/det-curve.ts'
import { analyzePresentations } from '../../evaluation/liveness/analyze-presentations.ts'
import { readPresentations } from '../../evaluation/liveness/read-presentations.ts'
import { detCurvesOf, createLivenessReport } from '../../evaluation/liveness/liveness-report.ts'
import type { KindReport, LivenessReport } from '../../evaluation/liveness/liveness-report.ts'
import { createProgressBar } from '../progress-bar.ts'
import { openVision } from './open-vision.ts'

export type LivenessCommandOptions = {
  readonly json: boolean
  /** Where to draw the curves. */
  readonly out: string | undefined
  readonly models: readonly string[]
}

/** `facegate evaluate liveness`. */
export async function runLiveness(
  folder: string,
  { json, out, models }: LivenessCommandOptions,
): Promise<void> {
  const presentations = await readPresentations(folder)
  await using vision = await openVision(models)
  const bar = createProgressBar('pictures')
  const judged = await analyzePresentations(presentations, vision.analyzeImage, bar.update)
  bar.end()
  const found = createLivenessReport(judged)
  if (out !== undefined) await drawDetCurves(out, detCurvesOf(judged))
  console.log(json ? JSON.stringify(found) : text(found))
}

function text({ networks, threshold, byScore, asAnswered, unusable }: LivenessReport): string {
  return [
    `networks   ${networks}`,
    ...unusable.map(({ file, reason }) => `unusable   ${file}: ${reason}`),
    '',
    'AS svc.liveness ANSWERS (uncertain and no face counted apart)',
    `  APCER, attacks called live, worst kind      ${percent(asAnswered.apcer)}`,
    `  BPCER, live people called spoofs            ${percent(asAnswered.bpcer)}`,
    `  attacks without a judgement, worst kind     ${percent(asAnswered.attackNonResponse)}`,
    `  live people without a judgement             ${percent(asAnswered.bonaFideNonResponse)}`,
    ...asAnswered.kinds.map(kindLine),
    '',
    `BY SCORE ALONE, live from ${threshold}`,
    `  APCER, worst kind   ${percent(byScore.apcer)}`,
    `  BPCER               ${percent(byScore.bpcer)}`,
    `  ACER                ${percent(byScore.acer)}`,
    ...byScore.attacks.flatMap(({ kind, apcer, apcerAtBpcer, equalErrorRate }) => [
      `  ${kind}: APCER ${percent(apcer)}, EER ${percent(equalErrorRate)}`,
      ...apcerAtBpcer.map(
        (point) => `    APCER at BPCER ${percent(point.bpcer)}   ${percent(point.apcer)}`,
      ),
    ]),
  ].join('\n')
}

function kindLine({ kind, presentations, live, spoof, uncertain, unusable }: KindReport): string {
  return `  ${kind}: ${presentations}, of them live ${live}, spoof ${spoof}, uncertain ${uncertain}, no face ${unusable}`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
