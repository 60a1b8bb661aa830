/**
 * Measures how the number of people in a calibration set affects these people, who are in the cohort,
 * and other people:
 *
 *   node eval/recognizers/measure-cohort-people.ts <folder|pairs.csv> <numbers of people> <draws> [people] <pack>...
 *
 * The numbers are separated by commas. `people` are names, separated by commas, that are left out because
 * their pictures are mislabelled; it can be empty. The packs are those of the recognizer and of the
 * detector, as for `--models`. Each number of people is drawn several times. Prints the mean TAR at the
 * scores of two rates in the table of the drawn people, with the rows that `facegate models qualify` mixes
 * and with 1,000 rows: of pairs outside of the cohort (the figure of the report), of the same pairs in the
 * cohort, and of the people who were not drawn; and the false-match rates of the last two.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { foldsByPerson, scoreHeldOut } from '../../src/evaluation/calibration/held-out-scores.ts'
import {
  cohortRowCount,
  cohortRowsOf,
  learnDensity,
} from '../../src/evaluation/calibration/learn-density.ts'
import { scoreAllPairs, scorers } from '../../src/evaluation/verification/pair-scores.ts'
import { buildCalibration } from '../../src/gallery/calibration/measure/build-calibration.ts'
import { shareAbove } from '../../src/gallery/calibration/measure/sorted-scores.ts'
import { seededRandom, shuffled } from '../../src/lib/random/seeded-random.ts'
import { type BothEmbeddings, embedWithBoth } from './embed-both.ts'

const rates = [1e-3, 1e-4]
/** As in `fitRecognizer`. */
const foldCount = 8

const [source, numbers, draws, leftOut = '', ...models] = process.argv.slice(2)
if (!source || !numbers || !draws || models.length === 0)
  throw new Error('arguments are missing; pass a set, numbers of people, draws, people and packs')
const mislabelled = new Set(leftOut.split(','))
const { samples: all } = await embedWithBoth(source, models)
const samples = all.filter(({ person }) => !mislabelled.has(person))
const rules: readonly (readonly [string, (people: number) => number])[] = [
  ['ships', cohortRowsOf],
  ['1,000 rows', () => cohortRowCount],
]
const rows = numbers.split(',').flatMap((number) =>
  rules.map(([name, rowCountOf]) => {
    const measured = Array.from({ length: Number(draws) }, (_, draw) =>
      measure(Number(number), draw + 1, rowCountOf),
    )
    const means = (measured[0] ?? []).map(
      (_, column) => measured.reduce((sum, row) => sum + (row[column] ?? 0), 0) / measured.length,
    )
    return [number, name, ...means.map(toText)]
  }),
)
const heads = rates.flatMap((rate) =>
  ['outside', 'in the cohort', 'others', 'FMR in the cohort', 'FMR of others'].map(
    (head) => `@${rate.toExponential(0)}: ${head}`,
  ),
)
console.log(markdownTable(['people', 'cohort', ...heads], rows))

function measure(number: number, seed: number, rowCountOf: (people: number) => number): number[] {
  const people = new Set(samples.map(({ person }) => person))
  const drawn = new Set(shuffled(seededRandom(seed), [...people]).slice(0, number))
  const [inside, others] = [true, false].map((isDrawn) =>
    samples.filter(({ person }) => drawn.has(person) === isDrawn),
  )
  const vectorOf = ({ installed }: BothEmbeddings) => installed.vector
  const learn = learnDensity('measured', vectorOf, undefined, rowCountOf)
  const folds = foldsByPerson(inside ?? [], foldCount, 1)
  const { identical, ...heldOut } = scoreHeldOut(folds, learn, scorers.corrected, () => undefined)
  const set = { modelId: 'measured', set: '', measuredOn: '', people: number, pictures: 0 }
  const { points } = buildCalibration(heldOut, identical, set)
  const templateOf = learn(inside ?? [])
  const [insideScores, otherScores] = [inside, others].map((part = []) =>
    scoreAllPairs(
      part.map((sample) => ({ person: sample.person, template: templateOf(sample) })),
      scorers.corrected,
    ),
  )
  return rates.flatMap((rate) => {
    const score = points.find(({ fmr }) => fmr === rate)?.score ?? NaN
    const scores = [
      heldOut.genuine,
      insideScores?.genuine,
      otherScores?.genuine,
      insideScores?.impostor,
      otherScores?.impostor,
    ]
    return scores.map((part) => (part?.length ? shareAbove(part, score) : NaN))
  })
}

function toText(share: number, column: number): string {
  if (Number.isNaN(share)) return '–'
  return column % 5 < 3 ? `${(100 * share).toFixed(1)} %` : share.toExponential(1)
}
