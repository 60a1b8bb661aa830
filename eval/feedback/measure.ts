/**
 * Measures denied matches: how many later pictures of a denied person still match the subject, and how
 * many pictures of the subject no longer do:
 *
 *   node eval/feedback/measure.ts <folder of the mixtures> <folder|pairs.csv> [splits, 3]
 *
 * Splits the people at random into two halves, learns the template from one half, with a cohort that
 * the mixtures extend, and measures the other half, then swaps the halves. A subject is enrolled with
 * one or three pictures. Pictures of another person that match it are denied; the remaining pictures
 * of both are searched for. The threshold is `auto` for 100 subjects, the rule and the similarities are
 * those that ship.
 *
 * `real`: all pairs of different people with a matching picture. They are few. Look-alikes are
 * therefore drawn: the mean of a person moves to that of another one until this share of the distance
 * is left; pictures of both are the mean, and the deviation of a picture of any person from its mean.
 * The margin of the rule was chosen with other drawn pairs of the same people. The drawn pairs are
 * reported in two halves, which agree.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { foldsByPerson } from '../../src/evaluation/calibration/held-out-scores.ts'
import shippedTable from '../../src/gallery/calibration/dlib-faceres-256@1.json' with { type: 'json' }
import {
  autoThreshold,
  scoreAt,
  scoreOf,
  type Calibration,
} from '../../src/gallery/calibration/similarity.ts'
import { isDeniedFace } from '../../src/gallery/feedback/denied-faces.ts'
import { mergeTemplates, spreadShares } from '../../src/lib/density/merge-templates.ts'
import { seededRandom, shuffled } from '../../src/lib/random/seeded-random.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { embedFaceSet } from '../fit/embed-face-set.ts'
import { readMixtureRows } from '../fit/mixture-rows.ts'
import { drawPeople, type MeasuredPeople } from '../subjects/draw-people.ts'
import { learnTemplate } from '../subjects/learn-template.ts'

const calibration = shippedTable as unknown as Calibration
const threshold = scoreAt(autoThreshold(100), calibration)
const distances = [0.3, 0.4, 0.5, 0.6]
const partnersPerPerson = 3
const drawnPictures = 10
/** Pictures of the subject, and denied pictures of the other person. */
const cases = [
  { enrolled: 1, denied: 1 },
  { enrolled: 1, denied: 3 },
  { enrolled: 3, denied: 1 },
  { enrolled: 3, denied: 3 },
]

type DenialCounts = {
  pairs: number
  own: number
  missed: number
  lost: number
  later: number
  matched: number
  stillMatched: number
}
const counts = new Map<string, DenialCounts>()

type DeniedPair = {
  readonly name: string
  readonly subject: Template[]
  readonly other: Template[]
}

function measurePair({ name, subject, other }: DeniedPair): void {
  for (const { enrolled, denied } of cases) {
    if (subject.length <= enrolled) continue
    const template = mergeTemplates(subject.slice(0, enrolled), spreadShares.subject)
    const similar = other.filter((picture) => scoreOf(picture, template) >= threshold)
    const negatives = similar.slice(0, denied)
    const later = other.filter((picture) => !negatives.includes(picture))
    if (negatives.length < denied || later.length === 0) continue
    const own = subject.slice(enrolled)
    const matches = (picture: Template): boolean => scoreOf(picture, template) >= threshold
    const isDenied = (probe: Template): boolean => {
      const compared = { score: scoreOf(probe, template), faces: enrolled }
      return isDeniedFace(probe, compared, negatives, calibration)
    }
    const key = `${name}, ${enrolled} enrolled, ${denied} denied`
    const zero = { pairs: 0, own: 0, missed: 0, lost: 0, later: 0, matched: 0, stillMatched: 0 }
    const sum = counts.get(key) ?? zero
    counts.set(key, sum)
    sum.pairs += 1
    sum.own += own.length
    sum.missed += own.filter((picture) => !matches(picture)).length
    sum.lost += own.filter((picture) => matches(picture) && isDenied(picture)).length
    sum.later += later.length
    sum.matched += later.filter(matches).length
    sum.stillMatched += later.filter((picture) => matches(picture) && !isDenied(picture)).length
  }
}

function measureRealPairs({ people }: MeasuredPeople): void {
  for (const subject of people)
    for (const other of people)
      if (subject !== other)
        measurePair({
          name: 'real',
          subject: subject.map(({ template }) => template),
          other: other.map(({ template }) => template),
        })
}

function measureLookAlikes(half: MeasuredPeople): void {
  const { people, createTemplate, random } = half
  const several = people.filter((pictures) => pictures.length > 1)
  const draws = drawPeople({ ...half, people: several }, 1)
  const means = several.map((pictures) =>
    mergeTemplates(
      pictures.map(({ template }) => template),
      1,
    ),
  )
  for (const [index, drawOwn] of draws.entries())
    for (let partner = 0; partner < partnersPerPerson; partner++) {
      const otherIndex = Math.floor(random() * several.length)
      const [mean, otherMean] = [means[index], means[otherIndex]]
      const drawOther = draws[otherIndex]
      if (!mean || !otherMean || !drawOther || otherIndex === index) continue
      for (const distance of distances) {
        const subject = Array.from({ length: drawnPictures }, () => drawOwn().template)
        const other = Array.from({ length: drawnPictures }, () => {
          const { vector } = drawOther().template
          const toward = (value: number, at: number): number =>
            value + (1 - distance) * ((mean.vector[at] ?? 0) - (otherMean.vector[at] ?? 0))
          return createTemplate(vector.map(toward))
        })
        const half = (index + partner) % 2 === 0 ? 'first half' : 'other half'
        measurePair({ name: `drawn at ${distance}, ${half}`, subject, other })
      }
    }
}

const [mixturesFolder, source, splits = '3'] = process.argv.slice(2)
if (!mixturesFolder || !source) throw new Error('pass the mixtures and a set')
const { fused: mixtures } = await readMixtureRows(mixturesFolder, await readTemplateModel())
const samples = await embedFaceSet(source)
for (let seed = 0; seed < Number(splits); seed++) {
  const [first = [], second = []] = foldsByPerson(samples, 2, seed)
  for (const [learnt, measured, isSwapped] of [
    [first, second, 0],
    [second, first, 1],
  ] as const) {
    const { createTemplate, toFace } = learnTemplate(learnt, mixtures, calibration.modelId)
    const random = seededRandom(2 * seed + isSwapped + 1)
    const byPerson = Map.groupBy(measured.map(toFace), ({ person }) => person)
    const people = [...byPerson.values()].map((pictures) => shuffled(random, pictures))
    const half = { people, createTemplate, random }
    measureRealPairs(half)
    measureLookAlikes(half)
  }
}
const percent = (part: number, all: number): string => ((100 * part) / Math.max(1, all)).toFixed(2)
console.log(
  markdownTable(
    [
      'pairs',
      'number',
      'others matched before, %',
      'not matched after, %',
      'own misses, %',
      'after',
    ],
    [...counts]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, sum]) => [
        name,
        String(sum.pairs),
        percent(sum.matched, sum.later),
        percent(sum.later - sum.stillMatched, sum.later),
        percent(sum.missed, sum.own),
        percent(sum.missed + sum.lost, sum.own),
      ]),
  ),
)
