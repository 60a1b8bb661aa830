import { drawDetCurves } from '../../evaluation/liveness/det-curve.ts'
import { analyzePresentations } from '../../evaluation/liveness/analyze-presentations.ts'
import { readPresentations } from '../../evaluation/liveness/read-presentations.ts'
import { detCurvesOf, createLivenessReport } from '../../evaluation/liveness/liveness-report.ts'
import type { KindReport, LivenessReport } from '../../evaluation/liveness/liveness-report.ts'
import { showProgress } from '../command.ts'
import { checkImageOutput } from './run-verification.ts'
import { openVision, type EvaluationValues } from './open-vision.ts'
import { percent, unusableLines } from './report-lines.ts'

/** Runs `facegate evaluate liveness`. @param values.out the image file of the curves. */
export async function runLiveness({ folder, json, out, models }: EvaluationValues<'out'>) {
  await checkImageOutput(out)
  const presentations = await readPresentations(folder)
  await using vision = await openVision(models)
  const results = await showProgress('images', (onProgress) =>
    analyzePresentations(presentations, vision.analyzeImage, onProgress),
  )
  const report = createLivenessReport(results)
  // Printed first: a curve that cannot be written does not lose the report.
  console.log(json ? JSON.stringify(report) : toText(report))
  if (out !== undefined) await drawDetCurves(out, detCurvesOf(results))
}

function toText({ networks, threshold, byScore, asAnswered, unusable }: LivenessReport): string {
  return [
    `models     ${networks}`,
    ...unusableLines(unusable),
    '',
    'RESULTS OF svc.liveness (uncertain and no face are counted separately)',
    `  APCER: attacks classified as live, worst kind     ${percent(asAnswered.apcer)}`,
    `  BPCER: live people classified as spoof            ${percent(asAnswered.bpcer)}`,
    `  attacks without a classification, worst kind      ${percent(asAnswered.attackNonResponse)}`,
    `  live people without a classification              ${percent(asAnswered.bonaFideNonResponse)}`,
    ...asAnswered.kinds.flatMap(kindLines),
    '',
    `BY SCORE ALONE, live if the score is at least ${threshold}`,
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

function kindLines(report: KindReport): string[] {
  const { kind, presentations, live, spoof, uncertain, uncertainReasons, unusable } = report
  return [
    `  ${kind}: ${presentations} images, live ${live}, spoof ${spoof}, uncertain ${uncertain}, no face ${unusable}`,
    ...uncertainReasons.map(
      ({ reason, images, alone }) =>
        `    uncertain because of ${reason}: ${images}, without another reason ${alone}`,
    ),
  ]
}
