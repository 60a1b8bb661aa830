/**
 * Fits the evidence of a solid head in challenges, and measures the judgement of people and of drawn
 * attacks:
 *
 *   node eval/challenge/fit-challenge.ts <folder|pairs.csv> <folder of draw-challenge-attacks.ts> [kept.json]
 *
 * The people of both sets are split into two halves by a hash of their names. The weights are fitted on
 * one half, and everything is measured on the other half, then the other way round. The first weights
 * are those of `challengeLimits`. `kept.json` keeps the measurements of all frames: it is written if it
 * does not exist, and read otherwise.
 */
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { markdownTable } from '../../bench/support/table.ts'
import { openVision } from '../../src/cli/evaluate/open-vision.ts'
import { createProgressBar } from '../../src/cli/command.ts'
import { judgeSequences } from './sequences/judge-sequences.ts'
import { readSequences } from './sequences/read-sequences.ts'
import { readRecognizerCalibration } from '../../src/start/active-models.ts'
import type { ChallengeReason } from '../../src/vision/liveness/challenge/challenge-judgement.ts'
import { judgeChallenge } from '../../src/vision/liveness/challenge/judge-challenge.ts'
import { movementsOf, shownSteps } from '../../src/vision/liveness/challenge/judge-steps.ts'
import {
  isFlat,
  measureRelief,
  type FaceRelief,
  type SolidFit,
  type SolidWeights,
} from '../../src/vision/liveness/challenge/relief.ts'
import {
  analyzePictures,
  findResponses,
  halfOf,
  type ChallengeResponse,
} from './people-responses.ts'
import { fitLogistic, type LivenessSample } from '../liveness/fit-logistic.ts'
import { isTurn } from '../../src/lib/liveness/challenge-steps.ts'

type Measurements = {
  readonly people: readonly ChallengeResponse[]
  /** Without frames if one of them has no usable face. */
  readonly drawn: readonly ChallengeResponse[]
}

/** The inputs of the fit. The units make their ranges similar, because the fit keeps weights small. */
const inputs: readonly { readonly name: keyof FaceRelief; readonly unit: number }[] = [
  { name: 'residual', unit: 0.1 },
  { name: 'noseDepth', unit: 1 },
  { name: 'keptWidth', unit: 0.2 },
]

/** Few attacks show a step, so the weights are kept small. */
const ridge = 3

const [set, drawnFolder, keptFile] = process.argv.slice(2)
if (!set || !drawnFolder) throw new Error('arguments are missing; pass a set and a drawn folder')
const { people, drawn } = await readMeasurements(set, drawnFolder)
const fits = [0, 1].map((half) => fitHalf(half))
for (const [half, fit] of fits.entries()) {
  console.log(`\nFitted on half ${half}:\n${JSON.stringify(fit, undefined, 2)}`)
  console.log(`\nMeasured on half ${1 - half}:\n${resultTable([[1 - half, fit]])}`)
}
console.log(
  `\nBoth halves, each with the weights of the other:\n${resultTable(fits.map((fit, half) => [1 - half, fit]))}`,
)

async function readMeasurements(setSource: string, folder: string): Promise<Measurements> {
  if (keptFile && existsSync(keptFile))
    return JSON.parse(await readFile(keptFile, 'utf8')) as Measurements
  const measurements = await measure(setSource, folder)
  if (keptFile) await writeFile(keptFile, JSON.stringify(measurements))
  return measurements
}

async function measure(setSource: string, folder: string): Promise<Measurements> {
  await using vision = await openVision([])
  const calibration = await readRecognizerCalibration(vision.modelSet.recognizer)
  const pictures = await analyzePictures(setSource, vision)
  const bar = createProgressBar('sequences')
  const { analyzeImage } = vision
  const sequences = await readSequences(folder)
  const results = await judgeSequences(sequences, { analyzeImage, calibration }, bar.update)
  bar.end()
  return {
    people: findResponses(pictures, calibration),
    drawn: results.map((result) => ({
      kind: result.kind,
      person: result.person,
      steps: result.steps,
      frames: 'frames' in result ? result.frames : [],
    })),
  }
}

function fitHalf(half: number): SolidFit {
  const isInHalf = (response: ChallengeResponse) => halfOf(response) === half
  const heads = [
    ...people.filter(({ steps }) => steps.length === 1),
    ...drawn.filter(({ kind }) => kind === 'live'),
  ].filter(isInHalf)
  const pictures = drawn.filter((response) => isInHalf(response) && isPicture(response.kind))
  const fit = (isWanted: typeof isTurn): { readonly weights: SolidWeights } => {
    const samples = [
      ...reliefsOf(heads, isWanted).map((relief) => toSample(relief, true)),
      ...reliefsOf(pictures, isWanted).map((relief) => toSample(relief, false)),
    ]
    const { weights, bias } = fitLogistic(samples, ridge)
    const entries = inputs.map(({ name, unit }, index) => [name, (weights[index] ?? 0) / unit])
    const rounded = [...entries, ['bias', bias]].map(([name, value]) => [
      name,
      round(Number(value)),
    ])
    return { weights: Object.fromEntries(rounded) as SolidWeights }
  }
  return { turn: fit(isTurn), look: fit((step) => !isTurn(step)) }
}

/** Whether an attack of this kind shows the surface of a picture, not the shape of a head. */
function isPicture(kind: string): boolean {
  return /flat|screen|bent|cut-out|panned|cylinder|mask/u.test(kind)
}

/** Returns the measurements of all frames that show a step, each pair of frames once. */
function reliefsOf(
  responses: readonly ChallengeResponse[],
  isWanted: typeof isTurn,
): readonly FaceRelief[] {
  const reliefs = new Map<string, FaceRelief>()
  for (const { frames } of responses) {
    const [first, ...others] = frames.map(({ facts }) => facts)
    if (!first) continue
    for (const [index, step] of shownSteps(first, others).entries()) {
      const turned = others[index]
      if (step && turned && isWanted(step))
        reliefs.set(
          `${first.fingerprint} ${turned.fingerprint}`,
          measureRelief(first, turned, step),
        )
    }
  }
  return [...reliefs.values()]
}

function toSample(relief: FaceRelief, isLive: boolean): LivenessSample {
  return { values: inputs.map(({ name, unit }) => relief[name] / unit), isLive }
}

function round(value: number): number {
  return Number(value.toFixed(3))
}

function resultTable(halves: readonly (readonly [half: number, fit: SolidFit])[]): string {
  const judged = halves.flatMap(([half, fit]) =>
    [...people, ...drawn]
      .filter((response) => halfOf(response) === half)
      .map((response) => ({ response, reasons: judge(response, fit) })),
  )
  const kinds = Map.groupBy(judged, ({ response }) => response.kind)
  const rows = [...kinds].map(([kind, ofKind]) => {
    const passed = ofKind.filter(({ reasons }) => reasons.length === 0).length
    const isPerson = (reason: string) => reason === 'DIFFERENT_PERSON'
    const exceptPerson = ofKind.filter(({ reasons }) => reasons.every(isPerson)).length
    const counts = Map.groupBy(
      ofKind.flatMap(({ reasons }) => reasons),
      (reason) => reason,
    )
    return [
      kind,
      `${new Set(ofKind.map(({ response }) => response.person)).size}`,
      `${ofKind.length}`,
      `${passed} (${((100 * passed) / ofKind.length).toFixed(1)} %)`,
      `${((100 * exceptPerson) / ofKind.length).toFixed(1)} %`,
      [...counts].map(([reason, { length }]) => `${reason} ${length}`).join(', '),
    ]
  })
  const header = ['kind', 'people', 'count', 'passed', 'except for the similarity', 'reasons']
  return markdownTable(header, rows)
}

/** Judges a response with other weights than those that ship. */
function judge(
  { frames, steps }: ChallengeResponse,
  fit: SolidFit,
): readonly (ChallengeReason | 'NO_FACE')[] {
  const all = frames.map(({ facts }) => facts)
  const [first, ...others] = all
  if (!first) return ['NO_FACE']
  const movements = movementsOf(first, others, shownSteps(first, others))
  const reasons = judgeChallenge(frames, steps).reasons.filter((reason) => reason !== 'FLAT_FACE')
  return isFlat(all, movements, fit) ? [...reasons, 'FLAT_FACE'] : reasons
}
