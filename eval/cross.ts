/**
 * What templates of several kinds are worth, with and without the density correction, on people
 * whom none of them has learnt from:
 *
 *   node eval/cross.ts <folder|pairs.csv> [number of splits, 4]
 *
 * Parts the people into two halves by chance, learns from one, measures all pairs of the other, and
 * the other way round; prints the mean over all splits and both ways as a table.
 */
import { median, table } from '../bench/table.ts'
import { progressBar } from '../src/cli/progress.ts'
import { operatingPoints } from './compare/roc.ts'
import { allPairScores, scorers } from './compare/scores.ts'
import type { Face } from './compare/scores.ts'
import { rankOne } from './compare/search.ts'
import { describeSet } from './fit/describe-set.ts'
import { peopleFolds } from './fit/held-out.ts'
import { dlibAlone, reduced, unreduced } from './fit/learners.ts'
import type { Learner } from './fit/learners.ts'

/** A half of LFW's fold 1 has 83,000 pairs: it resolves no more. */
const fars = [1e-2, 1e-3, 1e-4]
const kinds: readonly (readonly [name: string, learn: Learner])[] = [
  ['both, all 1,152 dimensions', unreduced],
  ...[384, 256, 128].map((dimensions) => {
    const learn = reduced('learnt', { dimensions, seed: 1 })
    return [`both, reduced to ${dimensions}`, learn] as const
  }),
  ['dlib alone, 128', dlibAlone],
]

const [place, splits = '4'] = process.argv.slice(2)
if (!place) throw new Error('name a set')
const samples = await describeSet(place)
const halves = Array.from({ length: Number(splits) }, (_, seed) => peopleFolds(samples, 2, seed))
const ways = halves.flatMap(([one = [], other = []]) => [
  { learnt: one, measured: other },
  { learnt: other, measured: one },
])
const bar = progressBar('measurements')
let done = 0
const rows = kinds.map(([name, learn]) => {
  const figures = ways.map(({ learnt, measured }) => {
    const templateOf = learn(learnt)
    const faces = measured.map((sample) => ({
      person: sample.person,
      template: templateOf(sample),
    }))
    bar.update(++done, kinds.length * ways.length)
    return { raw: measure(faces, 'raw'), corrected: measure(faces, 'corrected') }
  })
  return [
    name,
    ...means(figures.map(({ raw }) => raw)),
    ...means(figures.map(({ corrected }) => corrected)),
  ]
})
bar.end()
const pairs = median(ways.map(({ measured }) => (measured.length * (measured.length - 1)) / 2))
console.log(`${ways.length} measurements of about ${pairs} pairs each; percent\n`)
const head = [...fars.map((far) => `TAR @${far.toExponential(0)}`), 'rank one']
console.log(
  table(
    ['template', ...['raw', 'corrected'].flatMap((by) => head.map((title) => `${by} ${title}`))],
    rows,
  ),
)

/** TAR at each rate, then rank one. */
function measure(faces: readonly Face[], by: keyof typeof scorers): number[] {
  const points = operatingPoints(allPairScores(faces, scorers[by]), fars)
  return [...fars.map((_, index) => points[index]?.tar ?? Number.NaN), rankOne(faces, scorers[by])]
}

function means(rowsOf: readonly (readonly number[])[]): string[] {
  const [first = []] = rowsOf
  return first.map((_, column) => {
    const sum = rowsOf.reduce((total, row) => total + (row[column] ?? Number.NaN), 0)
    return ((100 * sum) / rowsOf.length).toFixed(1)
  })
}
