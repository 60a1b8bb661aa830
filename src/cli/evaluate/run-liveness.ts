import { hasSequences } from '../../evaluation/challenge/read-sequences.ts'
import { drawDetCurves } from '../../evaluation/liveness/det-curve.ts'
import { analyzePresentations } from '../../evaluation/liveness/analyze-presentations.ts'
import { readPresentations } from '../../evaluation/liveness/read-presentations.ts'
import { detCurvesOf, createLivenessReport } from '../../evaluation/liveness/liveness-report.ts'
import type { KindReport, LivenessReport } from '../../evaluation/liveness/liveness-report.ts'
import { createProgressBar } from '../progress-bar.ts'
import { UsageError } from '../command.ts'
import { checkImageOutput } from './check-output-file.ts'
import { openVision } from './open-vision.ts'
import { runSequences } from './run-sequences.ts'
import { unusableLines } from './unusable-lines.ts'

export type LivenessCommandOptions = {
  readonly json: boolean
  /** The image file of the curves. */
  readonly out: string | undefined
  /** The values of `--models`. */
  readonly models: readonly string[]
}

/** Runs `facegate evaluate liveness`. */
export async function runLiveness(
  folder: string,
  { json, out, models }: LivenessCommandOptions,
): Promise<void> {
  if (await hasSequences(folder)) {
    if (out !== undefined) throw new UsageError('--out is not valid for sequences of frames')
    return runSequences(folder, { json, models })
  }
  await checkImageOutput('--out', out)
  const presentations = await readPresentations(folder)
  await using vision = await openVision(models)
  const bar = createProgressBar('images')
  const results = await analyzePresentations(presentations, vision.analyzeImage, bar.update)
  bar.end()
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

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
