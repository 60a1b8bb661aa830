/**
 * Measures the margin of `ambiguous`: how many wrong and right matches have a next subject whose
 * false-match rate is at most this power of ten above that of the best one:
 *
 *   node eval/subjects/measure-ambiguity.ts <folder of the mixtures> <folder|pairs.csv> [splits, 4]
 *
 * Splits the people at random into two halves, learns the template from one half, with a cohort that
 * the mixtures extend, and searches in the other half, then swaps the halves. The similarities are
 * those of the table that ships.
 *
 * `right`: each person is enrolled with one picture, and the others are searched for; rows for larger
 * galleries draw the next subject from the false-match rates of that many comparisons. `wrong` of the
 * same searches are too few to choose a margin. Look-alikes are therefore drawn: the mean of a person
 * moves to that of another one until this share of the distance is left, and has the deviations of the
 * other one's pictures. Both are enrolled with one picture, and a match of the other one is wrong. `unlike`
 * counts wrong matches of the same searches whose next subject is not the person searched for.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { ambiguousStepsMax, rateSteps } from '../../src/actions/parts/search/ambiguity.ts'
import { foldsByPerson } from '../../src/evaluation/calibration/held-out-scores.ts'
import type { PersonTemplate } from '../../src/evaluation/verification/pair-scores.ts'
import shippedTable from '../../src/gallery/calibration/dlib-faceres-256@1.json' with { type: 'json' }
import {
  autoThreshold,
  scoreOf,
  similarityAt,
  similarityAtFmr,
  type Calibration,
} from '../../src/gallery/calibration/similarity.ts'
import { openDensityKernel } from '../../src/lib/density/density-kernel.ts'
import { seededRandom, shuffled } from '../../src/lib/random/seeded-random.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { fuseEmbeddings, projectToAxes } from '../../src/vision/embed/create-template.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { embedFaceSet } from '../fit/embed-face-set.ts'
import { fitTemplateModel, type PersonEmbedding } from '../fit/fit-template-model.ts'
import { readMixtureRows } from '../fit/mixture-rows.ts'

/** Powers of ten between the false-match rates, and similarities for comparison. */
const stepMargins = [0.5, 0.75, 1, 1.25, ambiguousStepsMax, 1.75, 2]
const similarityMargins = [0.05, 0.1, 0.15]
const templateOptions = { dimensions: 256, seed: 1 }
/** The share of the distance between two people that is left between a person and the look-alike. */
const distances = [0.3, 0.4, 0.5, 0.6, 0.7]
const largerGalleries = [1_000, 10_000]
/** Pairs of look-alikes per person and distance. */
const lookAlikesPerPerson = 2
const calibration = shippedTable as unknown as Calibration

type Found = { readonly best: number; readonly next: number }
const found = new Map<string, Found[]>()

function record(name: string, similarities: Found): void {
  found.set(name, [...(found.get(name) ?? []), similarities])
}

const similarityOf = (a: Template, b: Template): number => similarityAt(scoreOf(a, b), calibration)

function learn(samples: readonly PersonEmbedding[], fused: readonly Float32Array[]) {
  const fit = fitTemplateModel(samples, templateOptions)
  const added = fused.flatMap((row) => [...projectToAxes(row, fit)])
  const cohort = Float32Array.from([...fit.cohort, ...added])
  const densityOf = openDensityKernel({ ...fit, cohort }, templateOptions.dimensions)
  const createTemplate = (vector: Float32Array): Template => ({
    modelId: calibration.modelId,
    vector,
    density: densityOf(vector),
  })
  const vectorOf = ({ embedding: { dlib, faceres } }: PersonEmbedding): Float32Array =>
    projectToAxes(fuseEmbeddings({ dlib, faceres }, fit.centre, fit.dlibWeight), fit)
  return { createTemplate, vectorOf }
}

type MeasuredHalf = {
  readonly people: readonly (readonly PersonTemplate[])[]
  readonly createTemplate: (vector: Float32Array) => Template
  readonly random: () => number
}

function measureHalf(
  learnt: readonly PersonEmbedding[],
  measured: readonly PersonEmbedding[],
  seed: number,
): void {
  const { createTemplate, vectorOf } = learn(learnt, mixtures)
  const faces = measured.map((sample) => ({
    person: sample.person,
    template: createTemplate(vectorOf(sample)),
  }))
  const random = seededRandom(seed + 1)
  const people = [...Map.groupBy(faces, ({ person }) => person).values()].map((pictures) =>
    shuffled(random, pictures),
  )
  const half = { people, createTemplate, random }
  measureSearches(half)
  for (const distance of distances) measureLookAlikes(half, distance)
}

/** Searches for the other pictures of each person among one picture of every person. */
function measureSearches({ people, random }: MeasuredHalf): void {
  const gallery = people.flatMap((pictures) => pictures.slice(0, 1))
  const threshold = autoThreshold(gallery.length)
  for (const probe of people.flatMap((pictures) => pictures.slice(1))) {
    const ranked = gallery
      .map(({ person, template }) => ({
        person,
        similarity: similarityOf(template, probe.template),
      }))
      .toSorted((a, b) => b.similarity - a.similarity)
    const [best, next] = ranked
    if (!best || !next) continue
    const similarities = { best: best.similarity, next: next.similarity }
    if (best.person !== probe.person) {
      if (best.similarity >= threshold)
        record(next.person === probe.person ? 'wrong' : 'unlike', similarities)
      continue
    }
    if (best.similarity >= threshold) record(`right, ${gallery.length} subjects`, similarities)
    for (const size of largerGalleries) {
      if (best.similarity < autoThreshold(size)) continue
      // The most similar of `size` others: its rate is the lowest of that many uniform ones.
      const drawn = similarityAtFmr(Math.max(1e-6, 1 - random() ** (1 / size)))
      if (drawn < best.similarity)
        record(`right, ${size} subjects`, { best: best.similarity, next: drawn })
    }
  }
}

/** Searches for a person and for a drawn look-alike of this person. */
function measureLookAlikes(
  { people, createTemplate, random }: MeasuredHalf,
  distance: number,
): void {
  const several = people.filter((pictures) => pictures.length > 1)
  for (const pictures of several)
    for (let pair = 0; pair < lookAlikesPerPerson; pair++) {
      const others = several[Math.floor(random() * several.length)]
      if (!others || others === pictures) continue
      const [mean, otherMean] = [meanVector(pictures), meanVector(others)]
      const drawn = others.map(({ template: { vector } }) =>
        createTemplate(
          vector.map((value, index) => {
            const own = otherMean[index] ?? 0
            const start = mean[index] ?? 0
            return start + distance * (own - start) + (value - own)
          }),
        ),
      )
      const person = pictures.map(({ template }) => template)
      measurePair(`look-alike at ${distance}`, person, drawn)
      measurePair(`look-alike at ${distance}`, drawn, person)
    }
}

function measurePair(name: string, mates: readonly Template[], others: readonly Template[]): void {
  const [mate, ...probes] = mates
  const [other] = others
  if (!mate || !other) return
  for (const probe of probes) {
    const [right, wrong] = [similarityOf(probe, mate), similarityOf(probe, other)]
    if (Math.max(right, wrong) < autoThreshold(1)) continue
    if (wrong > right) record(`wrong, ${name}`, { best: wrong, next: right })
    else record(`right, ${name}`, { best: right, next: wrong })
  }
}

function meanVector(faces: readonly PersonTemplate[]): Float32Array {
  const [first] = faces
  if (!first) throw new RangeError('a person has no picture')
  return first.template.vector.map(
    (_, index) =>
      faces.reduce((sum, { template }) => sum + (template.vector[index] ?? 0), 0) / faces.length,
  )
}

const [mixturesFolder, source, splits = '4'] = process.argv.slice(2)
if (!mixturesFolder || !source) throw new Error('pass the mixtures and a set')
const { fused: mixtures } = await readMixtureRows(mixturesFolder, await readTemplateModel())
const samples = await embedFaceSet(source)
for (let seed = 0; seed < Number(splits); seed++) {
  const [first = [], second = []] = foldsByPerson(samples, 2, seed)
  measureHalf(first, second, 2 * seed)
  measureHalf(second, first, 2 * seed + 1)
}
const flaggedBy = [
  ...stepMargins.map((margin) => ({
    name: `${margin} steps`,
    isFlagged: ({ best, next }: Found) => rateSteps(best) - rateSteps(next) < margin,
  })),
  ...similarityMargins.map((margin) => ({
    name: `${margin} similarity`,
    isFlagged: ({ best, next }: Found) => best - next < margin,
  })),
]
console.log(
  markdownTable(
    ['flagged, %', 'matches', ...flaggedBy.map(({ name }) => name)],
    [...found]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([name, matches]) => [
        name,
        String(matches.length),
        ...flaggedBy.map(({ isFlagged }) =>
          ((100 * matches.filter(isFlagged).length) / matches.length).toFixed(1),
        ),
      ]),
  ),
)
