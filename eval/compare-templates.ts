/**
 * Compares several kinds of templates, with and without the density correction, on people that the
 * templates have not learnt from:
 *
 *   node eval/compare-templates.ts <folder|pairs.csv> [number of splits, 4]
 *
 * Splits the people at random into two halves, learns from one half and measures all pairs of the
 * other, then swaps the halves. Prints the mean over all splits and both directions as a table.
 */
import { median, markdownTable } from '../bench/support/table.ts'
import { createProgressBar } from '../src/cli/command.ts'
import { operatingPoints } from '../src/evaluation/verification/acceptance-points.ts'
import { scoreAllPairs, scorers } from '../src/evaluation/verification/pair-scores.ts'
import type { PersonTemplate } from '../src/evaluation/verification/pair-scores.ts'
import { measureSearch } from '../src/evaluation/verification/measure-search.ts'
import { embedFaceSet } from './fit/embed-face-set.ts'
import { foldsByPerson } from '../src/evaluation/calibration/held-out-scores.ts'
import { learnDlibOnly, learnReduced, learnUnreduced } from './fit/template-learners.ts'
import type { PersonEmbedding } from './fit/fit-template-model.ts'
import type { TemplateLearner } from '../src/evaluation/calibration/learn-density.ts'

/** A half of LFW fold 1 has 83,000 pairs, too few to resolve lower rates. */
const fars = [1e-2, 1e-3, 1e-4]
const kinds: readonly (readonly [name: string, learn: TemplateLearner<PersonEmbedding>])[] = [
  ['both, all 1,152 dimensions', learnUnreduced],
  ...[384, 256, 128].map((dimensions) => {
    const learn = learnReduced('learnt', { dimensions, seed: 1 })
    return [`both, reduced to ${dimensions}`, learn] as const
  }),
  ['dlib alone, 128', learnDlibOnly],
]

const [source, splits = '4'] = process.argv.slice(2)
if (!source) throw new Error('no set was given; pass a folder or a pairs.csv')
const samples = await embedFaceSet(source)
const halves = Array.from({ length: Number(splits) }, (_, seed) => foldsByPerson(samples, 2, seed))
const directions = halves.flatMap(([first = [], second = []]) => [
  { learnt: first, measured: second },
  { learnt: second, measured: first },
])
const bar = createProgressBar('measurements')
let done = 0
const rows = kinds.map(([name, learn]) => {
  const results = directions.map(({ learnt, measured }) => {
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
    ...means(results.map(({ raw }) => raw)),
    ...means(results.map(({ corrected }) => corrected)),
  ]
})
bar.end()
const pairs = median(
  directions.map(({ measured }) => (measured.length * (measured.length - 1)) / 2),
)
console.log(`${directions.length} measurements of about ${pairs} pairs each; percent\n`)
const headings = [...fars.map((far) => `TAR @${far.toExponential(0)}`), 'rank one']
console.log(
  markdownTable(
    [
      'template',
      ...['raw', 'corrected'].flatMap((scorer) => headings.map((title) => `${scorer} ${title}`)),
    ],
    rows,
  ),
)

/** Returns the TAR at each rate, then the rank-one share. */
function measure(faces: readonly PersonTemplate[], scorer: keyof typeof scorers): number[] {
  const points = operatingPoints(scoreAllPairs(faces, scorers[scorer]), fars)
  return [
    ...fars.map((_, index) => points[index]?.tar ?? Number.NaN),
    measureSearch(faces, scorers[scorer]).at(-1)?.rankOne ?? Number.NaN,
  ]
}

function means(resultRows: readonly (readonly number[])[]): string[] {
  const [first = []] = resultRows
  return first.map((_, column) => {
    const sum = resultRows.reduce((total, row) => total + (row[column] ?? Number.NaN), 0)
    return ((100 * sum) / resultRows.length).toFixed(1)
  })
}
