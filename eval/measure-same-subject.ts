/**
 * Measures searches with several pictures of one person, and the check that they show one person:
 *
 *   node eval/measure-same-subject.ts <folder|pairs.csv> [number of splits, 4]
 *
 * Splits the people at random into two halves, learns the template from one half and measures the
 * other, then swaps the halves. Every threshold is the score that single pictures of different people
 * of the measured half reach at the given rate. Prints means over all splits and both directions.
 */
import { markdownTable } from '../bench/support/table.ts'
import { mergeTemplates, spreadShares } from '../src/lib/density/merge-templates.ts'
import { largestGroup } from '../src/actions/parts/pictures/add-pictures.ts'
import { foldsByPerson } from '../src/evaluation/calibration/held-out-scores.ts'
import { scoreAtFar } from '../src/gallery/calibration/measure/sorted-scores.ts'
import { scoreAllPairs } from '../src/evaluation/verification/pair-scores.ts'
import type { PersonTemplate } from '../src/evaluation/verification/pair-scores.ts'
import { scoreOf } from '../src/gallery/calibration/similarity.ts'
import type { Template } from '../src/vision/embed/template.ts'
import { embedFaceSet } from './fit/embed-face-set.ts'
import type { PersonEmbedding } from './fit/fit-template-model.ts'
import { learnReduced } from './fit/template-learners.ts'

/** The rates of the search threshold, and of the limit of the check. */
const searchFars = [1e-3, 1e-4]
const checkFars = [1e-1, 1e-2, 1e-3, 1e-4]
const templateOptions = { dimensions: 256, seed: 1 }
/** Most sets of frames of one person, so that people with many pictures do not dominate. */
const setsPerPersonMax = 30

/** Scores a stored template. */
type ProbeScorer = (stored: Template) => number

/** Ways to compare a set of frames with a stored template. */
const combinations: Readonly<Record<string, (frames: readonly Template[]) => ProbeScorer>> = {
  'what ships': (frames) => scorerOf(mergeTemplates(frames, spreadShares.probe)),
  ...Object.fromEntries(
    [0, 1, 1.25, 1.5, 2].map((share) => [
      `density + ${share} × spread`,
      (frames: readonly Template[]) => scorerOf(mergeTemplates(frames, share)),
    ]),
  ),
  'best score': (frames) => (stored) => Math.max(...frames.map((frame) => scoreOf(frame, stored))),
}

function scorerOf(probe: Template): ProbeScorer {
  return (stored) => scoreOf(probe, stored)
}

type Counter = { matched: number; total: number }
const counters = new Map<string, Counter>()

function count(name: string, isMatch: boolean): void {
  const counter = counters.get(name) ?? { matched: 0, total: 0 }
  counter.matched += Number(isMatch)
  counter.total += 1
  counters.set(name, counter)
}

/** Returns subsets of `size` elements in lexicographic order, at most `setsPerPersonMax`. */
function subsetsOf<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]]
  return items
    .flatMap((item, index) =>
      subsetsOf(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]),
    )
    .slice(0, setsPerPersonMax)
}

function measureHalf(learnt: readonly PersonEmbedding[], measured: readonly PersonEmbedding[]) {
  const templateOf = learnReduced('learnt', templateOptions)(learnt)
  const faces = measured.map((sample) => ({
    person: sample.person,
    template: templateOf(sample),
  }))
  const { impostor } = scoreAllPairs(faces, scoreOf)
  const people = Map.groupBy(faces, ({ person }) => person)
  for (const [person, pictures] of people) {
    const others = faces.filter((face) => face.person !== person)
    for (const size of [2, 3]) {
      for (const far of searchFars)
        measureSearches(pictures, others, { size, far, limit: scoreAtFar(impostor, far) })
      for (const far of checkFars)
        measureCheck(pictures, others, {
          size,
          far,
          limit: scoreAtFar(impostor, far),
          searchLimit: scoreAtFar(impostor, 1e-4),
        })
    }
  }
}

type SetRule = { readonly size: number; readonly far: number; readonly limit: number }

/** Searches for each picture with sets of other pictures of the person, and with single ones. */
function measureSearches(
  pictures: readonly PersonTemplate[],
  others: readonly PersonTemplate[],
  rule: SetRule,
): void {
  const { size } = rule
  for (const [index, stored] of pictures.entries()) {
    const rest = pictures.toSpliced(index, 1).map(({ template }) => template)
    for (const frames of subsetsOf(rest, size))
      countScores(frames, [stored], { ...rule, kind: 'genuine' })
  }
  const templates = pictures.map(({ template }) => template)
  for (const frames of subsetsOf(templates, size))
    countScores(frames, others, { ...rule, kind: 'impostor' })
}

function countScores(
  frames: readonly Template[],
  faces: readonly PersonTemplate[],
  { size, far, limit, kind }: SetRule & { readonly kind: 'genuine' | 'impostor' },
): void {
  const probes: (readonly [name: string, scorer: ProbeScorer])[] = [
    ...frames.map((frame) => ['one of them', scorerOf(frame)] as const),
    ...Object.entries(combinations).map(([name, combine]) => [name, combine(frames)] as const),
  ]
  for (const [name, scorer] of probes)
    for (const { template } of faces)
      count(`${size}|${far}|${name}|${kind}`, scorer(template) >= limit)
}

/** Checks sets of pictures of one person, and the same sets with one picture of another person. */
function measureCheck(
  pictures: readonly PersonTemplate[],
  others: readonly PersonTemplate[],
  { size, limit, far, searchLimit }: SetRule & { readonly searchLimit: number },
): void {
  const templates = pictures.map(({ template }) => template)
  for (const frames of subsetsOf(templates, size)) {
    const group = largestGroup(size, (a, b) => scoreBetween(frames, a, b), limit)
    const isComplete = group.length === size
    count(`${size}|${far}|complete`, isComplete)
    const probe = mergeTemplates(frames, spreadShares.probe)
    for (const stored of templates.filter((template) => !frames.includes(template)))
      count(`${size}|${far}|found`, isComplete && scoreOf(probe, stored) >= searchLimit)
    for (let index = 0; index < size; index++)
      count(`${size}|${far}|refused`, !group.includes(index))
    const members = group.flatMap((index) => frames[index] ?? [])
    for (const { template } of others)
      count(
        `${size}|${far}|other`,
        members.some((member) => scoreOf(member, template) >= limit),
      )
  }
}

function scoreBetween(templates: readonly Template[], a: number, b: number): number {
  const [first, second] = [templates[a], templates[b]]
  if (!first || !second) throw new RangeError('the picture does not exist')
  return scoreOf(first, second)
}

const [source, splits = '4'] = process.argv.slice(2)
if (!source) throw new Error('no set was given; pass a folder or a pairs.csv')
const samples = await embedFaceSet(source)
for (let seed = 0; seed < Number(splits); seed++) {
  const [first = [], second = []] = foldsByPerson(samples, 2, seed)
  measureHalf(first, second)
  measureHalf(second, first)
}

const shareOf = (name: string): string => {
  const { matched, total } = counters.get(name) ?? { matched: 0, total: 0 }
  return total === 0 ? '–' : `${((100 * matched) / total).toFixed(3)} (${matched} of ${total})`
}
console.log(
  'Searches at the score that single pictures of different people reach at a rate, percent\n',
)
console.log(
  markdownTable(
    ['rate', 'pictures', 'probe', 'found', 'false matches'],
    searchFars.flatMap((far) =>
      [2, 3].flatMap((size) =>
        ['one of them', ...Object.keys(combinations)].map((name) => [
          far.toExponential(0),
          String(size),
          name,
          shareOf(`${size}|${far}|${name}|genuine`),
          shareOf(`${size}|${far}|${name}|impostor`),
        ]),
      ),
    ),
  ),
)
console.log('\nThe check that pictures show one person, percent\n')
console.log(
  markdownTable(
    [
      'pictures',
      'rate of the limit',
      'sets accepted',
      'accepted and found at 1e-4',
      'pictures refused',
      'other person accepted',
    ],
    [2, 3].flatMap((size) =>
      checkFars.map((far) => [
        String(size),
        far.toExponential(0),
        shareOf(`${size}|${far}|complete`),
        shareOf(`${size}|${far}|found`),
        shareOf(`${size}|${far}|refused`),
        shareOf(`${size}|${far}|other`),
      ]),
    ),
  ),
)
