import { drawDet } from '../../eval/liveness/det.ts'
import { lookAtAll } from '../../eval/liveness/look-at.ts'
import { readPresentations } from '../../eval/liveness/presentations.ts'
import { curvesOf, report } from '../../eval/liveness/report.ts'
import type { KindReport, LivenessReport } from '../../eval/liveness/report.ts'
import { progressBar } from './progress.ts'
import { openVision } from './vision.ts'

export type LivenessOptions = {
  readonly json: boolean
  /** Where to draw the curves. */
  readonly out: string | undefined
  readonly models: readonly string[]
}

/** `facegate evaluate liveness`. */
export async function runLiveness(
  folder: string,
  { json, out, models }: LivenessOptions,
): Promise<void> {
  const presentations = await readPresentations(folder)
  await using vision = await openVision(models)
  const bar = progressBar('pictures')
  const judged = await lookAtAll(presentations, vision.look, bar.update)
  bar.end()
  const found = report(judged)
  if (out !== undefined) await drawDet(out, curvesOf(judged))
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
