/**
 * What templates of several kinds are worth, with and without the density correction, on people
 * whom none of them has learnt from:
 *
 *   node eval/compare-templates.ts <folder|pairs.csv> [number of splits, 4]
 *
 * Parts the people into two halves by chance, learns from one, measures all pairs of the other, and
 * the other way round; prints the mean over all splits and both ways as a table.
 */
import { median, markdownTable } from '../bench/support/table.ts'
import { createProgressBar } from '../src/cli/progress-bar.ts'
import { operatingPoints } from '../src/evaluation/verification/operating-points.ts'
import { scoreAllPairs, scorers } from '../src/evaluation/verification/pair-scores.ts'
import type { PersonTemplate } from '../src/evaluation/verification/pair-scores.ts'
import { measureRankOne } from '../src/evaluation/verification/measure-search.ts'
import { embedFaceSet } from './fit/embed-face-set.ts'
import { foldsByPerson } from '../src/evaluation/calibration/held-out-scores.ts'
import { learnDlibOnly, learnReduced, learnUnreduced } from './fit/template-learners.ts'
import type { PersonEmbedding } from './fit/fit-template-model.ts'
import type { TemplateLearner } from '../src/evaluation/calibration/learn-density.ts'

/** A half of LFW's fold 1 has 83,000 pairs: it resolves no more. */
const fars = [1e-2, 1e-3, 1e-4]
const kinds: readonly (readonly [name: string, learn: TemplateLearner<PersonEmbedding>])[] = [
  ['both, all 1,152 dimensions', learnUnreduced],
  ...[384, 256, 128].map((dimensions) => {
    const learn = learnReduced('learnt', { dimensions, seed: 1 })
    return [`both, reduced to ${dimensions}`, learn] as const
  }),
  ['dlib alone, 128', learnDlibOnly],
]

const [place, splits = '4'] = process.argv.slice(2)
if (!place) throw new Error('name a set')
const samples = await embedFaceSet(place)
const halves = Array.from({ length: Number(splits) }, (_, seed) => foldsByPerson(samples, 2, seed))
const directions = halves.flatMap(([one = [], other = []]) => [
  { learnt: one, measured: other },
  { learnt: other, measured: one },
])
const bar = createProgressBar('measurements')
let done = 0
const rows = kinds.map(([name, learn]) => {
  const figures = directions.map(({ learnt, measured }) => {
    const templateOf = learn(learnt)
    const faces = measured.map((sample) => ({
      person: sample.person,
      template: templateOf(sample),
    }))
    bar.update(++done, kinds.length * directions.length)
    return { raw: measure(faces, 'raw'), corrected: measure(faces, 'corrected') }
  })
  return [
    name,
    ...means(figures.map(({ raw }) => raw)),
    ...means(figures.map(({ corrected }) => corrected)),
  ]
})
bar.end()
const pairs = median(
  directions.map(({ measured }) => (measured.length * (measured.length - 1)) / 2),
)
console.log(`${directions.length} measurements of about ${pairs} pairs each; percent\n`)
const head = [...fars.map((far) => `TAR @${far.toExponential(0)}`), 'rank one']
console.log(
  markdownTable(
    ['template', ...['raw', 'corrected'].flatMap((by) => head.map((title) => `${by} ${title}`))],
    rows,
  ),
)

/** TAR at each rate, then rank one. */
function measure(faces: readonly PersonTemplate[], by: keyof typeof scorers): number[] {
  const points = operatingPoints(scoreAllPairs(faces, scorers[by]), fars)
  return [
    ...fars.map((_, index) => points[index]?.tar ?? Number.NaN),
    measureRankOne(faces, scorers[by]),
  ]
}

function means(rowsOf: readonly (readonly number[])[]): string[] {
  const [first = []] = rowsOf
  return first.map((_, column) => {
    const sum = rowsOf.reduce((total, row) => total + (row[column] ?? Number.NaN), 0)
    return ((100 * sum) / rowsOf.length).toFixed(1)
  })
}
