/**
 * Compares the built-in recognizer, an installed one and the sum of their scores:
 *
 *   node eval/recognizers/measure-sum.ts <folder of the mixtures> <folder|pairs.csv> [people] <pack>...
 *
 * `people` are names, separated by commas, that are left out because their pictures are mislabelled; it
 * can be empty. The packs are those of the recognizer and of the detector, as for `--models`. The first
 * table has the rates of several weights, on all people and on two halves of them; the second one the
 * difference to the installed recognizer alone; the third one certain impostors. The rows of the two
 * cohorts show different people, so rows of the same cell are taken as the same person: the networks
 * then err independently of each other, and the counts of the sum are optimistic.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { parse } from 'csv-parse/sync'
import { markdownTable } from '../../bench/support/table.ts'
import { neighbourCount } from '../../src/evaluation/calibration/learn-density.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import { readCohort } from '../../src/models/template/read-cohort.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { projectToAxes } from '../../src/vision/embed/create-template.ts'
import {
  type CellRow,
  countCertainImpostors,
  createRowScorer,
  fittedCohort,
  type PairCount,
  type ScoreRows,
  spreadLikeFaces,
} from '../fit/certain-impostors.ts'
import { type MixtureCell, readMixtureRows } from '../fit/mixture-rows.ts'
import {
  type PairRule,
  type RankedPairs,
  rankPairs,
  resamplePeople,
  scoreAtRate,
  sharesAtRates,
} from './compare-rates.ts'
import { embedWithBoth } from './embed-both.ts'
import { createBuiltinLearner, scoreBoth, type RecognizerPair } from './score-both.ts'

const weights = [0.5, 1, 2, 3, 4, 5, 6, 8]
/** The weight that ships. */
const shippedWeight = 4
const rates = [1e-2, 1e-3, 1e-4, 1e-5]
/** 21 rates from 1e-4 to 1e-3: their mean is less noisy than one of them. */
const rateGrid = Array.from({ length: 21 }, (_, step) => 1e-4 * 10 ** (step / 20))
const resamplings = 200

const [mixtures, source, leftOut = '', ...models] = process.argv.slice(2)
if (!mixtures || !source || models.length === 0)
  throw new Error('arguments are missing; pass the mixtures, a set, people and packs')
const { samples, recognizer } = await embedWithBoth(source, models)
const mislabelled = new Set(leftOut.split(','))
const pairs = scoreBoth(
  samples.filter(({ person }) => !mislabelled.has(person)),
  await createBuiltinLearner(mixtures),
)
const sumOf =
  (weight: number): PairRule =>
  ({ builtin, installed }) =>
    builtin + weight * installed
const rules: readonly (readonly [string, PairRule])[] = [
  ['built-in', ({ builtin }) => builtin],
  ['installed', ({ installed }) => installed],
  ...weights.map((weight) => [`built-in + ${weight} × installed`, sumOf(weight)] as const),
]
printRates()
printDifferences()
await printImpostors(mixtures)

function printRates(): void {
  const halves = [0, 1].map(pairsOfHalf)
  const rows = rules.map(([name, rule]) => {
    const ranked = rankPairs(pairs, rule)
    const ofHalves = halves.map((half) => meanShare(rankPairs(half, rule)))
    const shares = [...sharesAtRates(ranked, rates), meanShare(ranked), ...ofHalves]
    return [name, ...shares.map((share) => (100 * share).toFixed(2))]
  })
  const heads = rates.map((rate) => `TAR @${rate.toExponential(0)}`)
  console.log(
    markdownTable(['rule', ...heads, 'mean of 21 rates', 'first half', 'second half'], rows),
  )
}

/** The pairs of two people of the same half. */
function pairsOfHalf(half: number): RecognizerPair[] {
  const people = [...new Set(pairs.flatMap((pair) => pair.people))].toSorted()
  const halfOf = new Map(people.map((person, index) => [person, index % 2]))
  return pairs.filter((pair) => pair.people.every((person) => halfOf.get(person) === half))
}

function meanShare(ranked: RankedPairs, sample?: Uint8Array): number {
  const shares = sharesAtRates(ranked, rateGrid, sample)
  return shares.reduce((sum, share) => sum + share, 0) / shares.length
}

/** The sum minus the installed recognizer, with the standard error of samples of the people. */
function printDifferences(): void {
  const sum = rankPairs(pairs, sumOf(shippedWeight))
  const installed = rankPairs(pairs, ({ installed: score }) => score)
  const differences = (sample?: Uint8Array): number[] => {
    const [a, b] = [sum, installed].map((ranked) => [
      ...sharesAtRates(ranked, rates, sample),
      meanShare(ranked, sample),
    ])
    return (a ?? []).map((share, index) => 100 * (share - (b?.[index] ?? 0)))
  }
  const random = seededRandom(1)
  const drawn = Array.from({ length: resamplings }, () =>
    differences(resamplePeople(sum.people, random)),
  )
  const cells = differences().map((difference, index) => {
    const values = drawn.map((sample) => sample[index] ?? 0)
    return `${difference.toFixed(2)} ± ${deviationOf(values).toFixed(2)}`
  })
  const heads = [...rates.map((rate) => `@${rate.toExponential(0)}`), 'mean of 21 rates']
  console.log(`\n${markdownTable(['points of TAR', ...heads], [['sum − installed', ...cells]])}`)
}

function deviationOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return Math.sqrt(squares / (values.length - 1))
}

/** Returns the vectors of faces for the rows of a cohort. */
type ToFaces = (rows: readonly CellRow[]) => readonly CellRow[]

/** Certain impostors at the scores of two rates, with all rows in the cohorts but the halves of both rows. */
async function printImpostors(folder: string): Promise<void> {
  const { cells, scorersOf } = await pairRows(folder)
  const groups = [...new Set(cells.map(({ group }) => group))]
  const rows = (
    [
      ['means of three faces', 1e-4, (faces) => faces],
      ['spread like single faces', 1e-4, spreadLikeFaces],
      ['spread like single faces', 1e-3, spreadLikeFaces],
    ] as const satisfies readonly (readonly [string, number, ToFaces])[]
  ).flatMap(([kind, rate, toFaces]) => {
    const { builtin, installed } = scorersOf(toFaces)
    const sum: ScoreRows = (a, b) => builtin(a, b) + shippedWeight * installed(a, b)
    const scored: readonly (readonly [string, ScoreRows, PairRule])[] = [
      ['built-in', builtin, ({ builtin: score }) => score],
      ['installed', installed, ({ installed: score }) => score],
      [`built-in + ${shippedWeight} × installed`, sum, sumOf(shippedWeight)],
    ]
    return scored.map(([name, scoreRows, rule]) => {
      const score = scoreAtRate(rankPairs(pairs, rule), rate)
      const counts = countCertainImpostors(cells, scoreRows, score)
      const ofGroups = groups.map((group) => countOf(counts.girlAndBoyOfGroup.get(group)))
      return [
        kind,
        rate.toExponential(0),
        name,
        countOf(counts.certain),
        countOf(counts.girlAndBoy),
        ...ofGroups,
      ]
    })
  })
  const heads = ['rows', 'score of', 'rule', 'certain impostors', 'girl and boy', ...groups]
  console.log(`\n${markdownTable(heads, rows)}`)
}

/** Pairs the rows of both cohorts that have the same cell; the rest of each is only in its cohort. */
async function pairRows(folder: string) {
  const model = await readTemplateModel()
  const { fused, cells } = await readMixtureRows(folder, model)
  const builtinRows = cells.map((cell, row): CellRow => {
    return { cell, vector: projectToAxes(fused[row] ?? new Float32Array(), model) }
  })
  const installedRows = await readInstalledRows(folder)
  const byCell = Map.groupBy(installedRows.keys(), (row) => nameOf(installedRows[row]?.cell))
  const matched = [...builtinRows.keys()].flatMap((row) => {
    const other = byCell.get(nameOf(cells[row]))?.shift()
    return other === undefined ? [] : [{ row, other }]
  })
  const at = (index: number) => matched[index] ?? { row: -1, other: -1 }
  const scorersOf = (toFaces: ToFaces) => {
    const scoreBuiltin = createRowScorer(toFaces(builtinRows), {
      fitted: fittedCohort(model),
      added: builtinRows,
    })
    const scoreInstalled = createRowScorer(toFaces(installedRows), {
      fitted: { cohort: new Float32Array(), neighbours: neighbourCount },
      added: installedRows,
    })
    const builtin: ScoreRows = (a, b) => scoreBuiltin(at(a).row, at(b).row)
    const installed: ScoreRows = (a, b) => scoreInstalled(at(a).other, at(b).other)
    return { builtin, installed }
  }
  return { cells: matched.flatMap(({ row }) => cells[row] ?? []), scorersOf }
}

/** The rows of the cohort of the pack, in the order of `mobilefacenet-rows.csv`. */
async function readInstalledRows(folder: string): Promise<CellRow[]> {
  const cohort = await readCohort(recognizer)
  const file = path.join(folder, 'mobilefacenet-rows.csv')
  const cells: MixtureCell[] = parse(await readFile(file, 'utf8'), { columns: true })
  const size = (cohort?.cohort.length ?? 0) / cells.length
  if (!Number.isInteger(size) || size === 0)
    throw new Error(`${file} does not have the rows of the cohort of the pack`)
  return cells.map((cell, row) => {
    return {
      cell,
      vector: (cohort?.cohort ?? new Float32Array()).slice(row * size, (row + 1) * size),
    }
  })
}

function nameOf(cell: MixtureCell | undefined): string {
  return cell ? `${cell.group} ${cell.gender} ${cell.age}` : ''
}

function countOf({ matches, pairs: all }: PairCount = { matches: 0, pairs: 0 }): string {
  return `${(matches / all).toExponential(1)} (${matches} of ${all})`
}
