import { writeFile } from 'node:fs/promises'
import { calibrate } from '../../eval/compare/calibrate.ts'
import { drawCurves } from '../../eval/compare/curve.ts'
import { readFaceSet } from '../../eval/face-set.ts'
import { gatherTemplates, lookForTemplates } from '../../eval/gather.ts'
import { verify } from '../../eval/verification.ts'
import type { Figures, Verification, VerificationReport } from '../../eval/verification.ts'
import { progressBar } from './progress.ts'
import { openVision } from './vision.ts'

export type VerificationOptions = {
  readonly json: boolean
  /** Where to draw the curve. */
  readonly out: string | undefined
  /** Where to write the table of similarities. */
  readonly calibrate: string | undefined
}

/** `facegate evaluate verification`. */
export async function runVerification(place: string, options: VerificationOptions): Promise<void> {
  const set = await readFaceSet(place)
  await using vision = await openVision()
  const bar = progressBar('pictures')
  const look = (picture: Parameters<typeof vision.look>[0]) =>
    vision.look(picture, lookForTemplates)
  const gathered = await gatherTemplates(set.pictures, look, bar.update)
  bar.end()
  const pairs = progressBar('pairs')
  const found = verify(set, gathered, pairs.update)
  pairs.end()
  const { raw, corrected } = found.scores
  if (options.out !== undefined)
    await drawCurves(options.out, [
      { name: 'corrected', scores: corrected, colour: '#0b6e4f' },
      { name: 'raw distance', scores: raw, colour: '#b0413e' },
    ])
  if (options.calibrate !== undefined) await writeTable(options.calibrate, place, found)
  console.log(options.json ? JSON.stringify(found.report) : text(found.report))
}

async function writeTable(file: string, place: string, found: Verification): Promise<void> {
  const { modelId, pictures, people } = found.report
  const measuredOn = new Date().toISOString().slice(0, 10)
  const about = { modelId, set: place, measuredOn, people, pictures }
  const table = calibrate(found.scores.corrected, found.identical, about)
  await writeFile(file, `${JSON.stringify(table, null, 2)}\n`)
}

function text(report: VerificationReport): string {
  const { modelId, pictures, people, unusable, similarity } = report
  return [
    `model      ${modelId}`,
    `pictures   ${pictures} of ${people} people`,
    ...unusable.map(({ file, reason }) => `unusable   ${file}: ${reason}`),
    ...figures('corrected', report.corrected),
    ...figures('raw distance', report.raw),
    '',
    'similarity    strangers that reach it    pairs of one person that miss it',
    ...similarity.map(
      (row) =>
        `${row.similarity.toFixed(2).padEnd(14)}${row.fmr.toExponential(1).padEnd(27)}${percent(row.fnmr)}`,
    ),
  ].join('\n')
}

function figures(name: string, { pairs, allPairs, search }: Figures): string[] {
  const lines = (title: string, { genuine, impostor, areaUnderCurve, points }: typeof allPairs) => [
    `${title}, ${genuine} of one person and ${impostor} of two:`,
    `  area under the curve   ${areaUnderCurve.toFixed(5)}`,
    ...points.map(
      ({ far, tar, score }) =>
        `  TAR at FAR ${far.toExponential(0)}       ${percent(tar)}  (score ${score.toFixed(3)})`,
    ),
  ]
  return [
    '',
    name.toUpperCase(),
    ...(pairs
      ? [
          ...lines('listed pairs', pairs),
          `  accuracy, ten folds    ${percent(pairs.accuracy)} ± ${percent(pairs.standardError)}`,
        ]
      : []),
    ...lines('all pairs', allPairs),
    ...search.flatMap(({ gallerySize, mated, nonMated, rankOne, points }) => [
      `gallery of ${gallerySize}, ${mated} searches for people in it and ${nonMated} for others:`,
      `  rank one               ${percent(rankOne)}`,
      ...points.map(({ fpir, fnir }) => `  FNIR at FPIR ${percent(fpir)}   ${percent(fnir)}`),
    ]),
  ]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`
}
