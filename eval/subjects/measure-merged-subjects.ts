/**
 * Measures subjects with several templates: the rate at which other people match them at the score
 * that single templates reach at 1e-4, for the best template and for merged templates with several
 * shares of the spread, and how often the person is found:
 *
 *   node eval/subjects/measure-merged-subjects.ts <folder of the mixtures> <folder|pairs.csv> [splits, 4] [pack]...
 *
 * With packs, a recognizer and a detector, it measures the built-in recognizer together with the
 * installed one.
 *
 * Splits the people at random into two halves, learns the template from one half, with a cohort that
 * the mixtures extend, and measures the other, then swaps the halves. Sets have few people with many
 * pictures. Subjects of 1, 3, 10 and 20 templates are therefore also drawn: the mean of the pictures
 * of a person with at least four, and for each template the deviation of a picture of another person
 * from the mean of that person. Drawn subjects of three show what this changes. `one template` is the
 * rate of single templates of the same people: those with many pictures differ from the others.
 * Tables: `other` people match the subject; `same`, other pictures of the person do; `pair`, two of
 * them merged into one probe.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { mergeTemplates } from '../../src/lib/density/merge-templates.ts'
import { foldsByPerson } from '../../src/evaluation/calibration/held-out-scores.ts'
import { scoreAllPairs } from '../../src/evaluation/verification/pair-scores.ts'
import type { PersonTemplate } from '../../src/evaluation/verification/pair-scores.ts'
import { tailScore } from '../../src/gallery/calibration/measure/build-calibration.ts'
import { scoreAtFar } from '../../src/gallery/calibration/measure/sorted-scores.ts'
import { scoreOf } from '../../src/gallery/calibration/similarity.ts'
import { type DensityCohort, openDensityKernel } from '../../src/lib/density/density-kernel.ts'
import { seededRandom, shuffled } from '../../src/lib/random/seeded-random.ts'
import { requireRecognizerDecoding } from '../../src/models/decoding.ts'
import { readCohort } from '../../src/models/template/read-cohort.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { combineTemplates, splitTemplate } from '../../src/vision/embed/combine-recognizers.ts'
import { fuseEmbeddings, projectToAxes } from '../../src/vision/embed/create-template.ts'
import type { Template } from '../../src/vision/embed/template.ts'
import { type BothEmbeddings, embedWithBoth } from '../recognizers/embed-both.ts'
import { embedFaceSet } from '../fit/embed-face-set.ts'
import { fitTemplateModel, type PersonEmbedding } from '../fit/fit-template-model.ts'
import { readMixtureRows } from '../fit/mixture-rows.ts'

const shares = [1, 1.1, 1.2, 1.25, 1.3, 1.5]
const ways = [
  'one template',
  'best template',
  ...shares.map((share) => `merged, ${share} × spread`),
]
/** The rates of the threshold: 0.70, 0.80, and 0.90, which is `auto` among 1,000 subjects. */
const fars = [1e-3, 1e-4, 1e-5]
/** A rate that fewer pairs of single templates reach is extrapolated, as in the table of a model. */
const countedPairs = 5
const probeShare = 1.25
const drawnSizes = [1, 3, 10, 20]
const countedSizes = [1, 2, 3, 5]
const picturesMin = 4
/** Subjects of one size of one person: people with many pictures do not dominate. */
const subjectsPerPerson = 6
const templateOptions = { dimensions: 256, seed: 1 }

type Half = {
  readonly faces: readonly PersonTemplate[]
  readonly limits: readonly number[]
  readonly createTemplate: (vector: Float32Array) => Template
  readonly random: () => number
}

type Rate = { matches: number; total: number }
const rates = new Map<string, Rate>()

function count(key: string, isMatch: boolean): void {
  const rate = rates.get(key) ?? { matches: 0, total: 0 }
  rate.matches += Number(isMatch)
  rate.total += 1
  rates.set(key, rate)
}

type Learnt<Sample> = {
  readonly createTemplate: (vector: Float32Array) => Template
  readonly vectorOf: (sample: Sample) => Float32Array
}

function learnBuiltin(
  samples: readonly PersonEmbedding[],
  fused: readonly Float32Array[],
): Learnt<PersonEmbedding> {
  const fit = fitTemplateModel(samples, templateOptions)
  const added = fused.flatMap((row) => [...projectToAxes(row, fit)])
  const cohort = Float32Array.from([...fit.cohort, ...added])
  const densityOf = openDensityKernel({ ...fit, cohort }, templateOptions.dimensions)
  const createTemplate = (vector: Float32Array): Template => ({
    modelId: 'learnt',
    vector,
    density: densityOf(vector),
  })
  const vectorOf = ({ embedding: { dlib, faceres } }: PersonEmbedding): Float32Array =>
    projectToAxes(fuseEmbeddings({ dlib, faceres }, fit.centre, fit.dlibWeight), fit)
  return { createTemplate, vectorOf }
}

/** Adds an installed recognizer, whose cohort contains none of the people. */
function addInstalled(
  { createTemplate, vectorOf }: Learnt<PersonEmbedding>,
  { cohort, neighbours }: DensityCohort,
  dimensions: number,
): Learnt<BothEmbeddings> {
  const densityOf = openDensityKernel({ cohort, neighbours }, dimensions)
  const combine = (builtin: Template, vector: Float32Array): Template =>
    combineTemplates('learnt', builtin, { ...builtin, vector, density: densityOf(vector) })
  return {
    createTemplate(both) {
      const vector = both.subarray(0, both.length - dimensions)
      const { installed } = splitTemplate({ modelId: '', vector: both, density: 0 }, dimensions)
      return combine(createTemplate(vector), installed)
    },
    vectorOf: (sample) => combine(createTemplate(vectorOf(sample)), sample.installed.vector).vector,
  }
}

function measureHalf<Sample extends PersonEmbedding>(
  { createTemplate, vectorOf }: Learnt<Sample>,
  measured: readonly Sample[],
  seed: number,
): void {
  const faces = measured.map((sample) => ({
    person: sample.person,
    template: createTemplate(vectorOf(sample)),
  }))
  const { impostor } = scoreAllPairs(faces, scoreOf)
  const limits = fars.map((far) =>
    far * impostor.length < countedPairs ? tailScore(impostor, far) : scoreAtFar(impostor, far),
  )
  const half = { faces, limits, createTemplate, random: seededRandom(seed + 1) }
  for (const size of countedSizes) measureCounted(half, size)
  for (const size of drawnSizes) measureDrawn(half, size)
}

/** Real pictures of one person; the person's other pictures search for the subject. */
function measureCounted(half: Half, size: number): void {
  const people = Map.groupBy(half.faces, ({ person }) => person)
  for (const [person, pictures] of people) {
    if (pictures.length < size) continue
    for (let set = 0; set < subjectsPerPerson; set++) {
      const mixed = shuffled(half.random, pictures).map(({ template }) => template)
      const others = half.faces.filter((face) => face.person !== person)
      measureSubject(half, `${size} counted`, mixed.slice(0, size), {
        genuine: mixed.slice(size),
        impostor: others.map(({ template }) => template),
      })
    }
  }
}

/** Drawn pictures about the mean of a person. */
function measureDrawn(half: Half, size: number): void {
  const people = Map.groupBy(half.faces, ({ person }) => person)
  const deviations = [...people].flatMap(([person, pictures]) => {
    if (pictures.length < 2) return []
    const mean = meanVector(pictures)
    // The deviations from the mean of n pictures have (n − 1) / n of the variance.
    const scale = Math.sqrt(pictures.length / (pictures.length - 1))
    return pictures.map(({ template: { vector } }) => ({
      person,
      values: vector.map((value, index) => scale * (value - (mean[index] ?? 0))),
    }))
  })
  for (const [person, pictures] of people) {
    if (pictures.length < picturesMin) continue
    const mean = meanVector(pictures)
    const others = half.faces.filter((face) => face.person !== person)
    const usable = deviations.filter((deviation) => deviation.person !== person)
    for (let set = 0; set < subjectsPerPerson; set++) {
      const drawn = shuffled(half.random, usable).slice(0, size)
      const templates = drawn.map(({ values }) =>
        half.createTemplate(mean.map((value, index) => value + (values[index] ?? 0))),
      )
      const impostor = others.map(({ template }) => template)
      measureSubject(half, `${size} drawn`, templates, { genuine: [], impostor })
    }
  }
}

function meanVector(faces: readonly PersonTemplate[]): Float32Array {
  return mergeTemplates(
    faces.map(({ template }) => template),
    0,
  ).vector
}

type Probes = { readonly genuine: readonly Template[]; readonly impostor: readonly Template[] }

function measureSubject(
  { limits }: Half,
  name: string,
  templates: readonly Template[],
  { genuine, impostor }: Probes,
): void {
  const merged = mergeTemplates(templates, 0)
  const spread = mergeTemplates(templates, 1).density - merged.density
  const countProbe = (probe: Template, kind: string): void => {
    const withoutSpread = scoreOf(probe, merged)
    const ofTemplates = templates.map((template) => scoreOf(probe, template))
    const scores = [
      ofTemplates[0] ?? Number.NaN,
      Math.max(...ofTemplates),
      ...shares.map((share) => withoutSpread - (share * spread) / 2),
    ]
    for (const [way, score] of scores.entries())
      for (const [index, limit] of limits.entries())
        count(`${kind} ${name} ${ways[way]} ${fars[index]}`, score >= limit)
  }
  for (const probe of impostor) countProbe(probe, 'other')
  for (const probe of genuine) countProbe(probe, 'same')
  if (genuine.length < 2) return
  countProbe(mergeTemplates(genuine.slice(0, 2), probeShare), 'pair')
}

const [mixturesFolder, source, splits = '4', ...models] = process.argv.slice(2)
if (!mixturesFolder || !source) throw new Error('pass the mixtures and a set')
const { fused: mixtures } = await readMixtureRows(mixturesFolder, await readTemplateModel())
if (models.length === 0)
  measureHalves(await embedFaceSet(source), (half) => learnBuiltin(half, mixtures))
else {
  const { samples, recognizer } = await embedWithBoth(source, models)
  const cohort = await readCohort(recognizer)
  if (!cohort) throw new Error('the pack has no cohort')
  const { dimensions } = requireRecognizerDecoding(recognizer.model)
  measureHalves(samples, (half) => addInstalled(learnBuiltin(half, mixtures), cohort, dimensions))
}

function measureHalves<Sample extends PersonEmbedding>(
  samples: readonly Sample[],
  learn: (half: readonly Sample[]) => Learnt<Sample>,
): void {
  for (let seed = 0; seed < Number(splits); seed++) {
    const [first = [], second = []] = foldsByPerson(samples, 2, seed)
    measureHalf(learn(first), second, 2 * seed)
    measureHalf(learn(second), first, 2 * seed + 1)
  }
}

const names = [
  ...countedSizes.map((size) => `${size} counted`),
  ...drawnSizes.map((size) => `${size} drawn`),
]
for (const far of fars) {
  console.log(`\nAt the score that single templates reach at ${far.toExponential()}\n`)
  const rateOf = (kind: string, name: string, way: string): string => {
    const { matches, total } = rates.get(`${kind} ${name} ${way} ${far}`) ?? {
      matches: 0,
      total: 0,
    }
    if (total === 0) return '–'
    return kind === 'other'
      ? `${(matches / total).toExponential(2)} (${matches})`
      : `${((100 * matches) / total).toFixed(1)} %`
  }
  for (const kind of ['other', 'same', 'pair'])
    console.log(
      `${markdownTable(
        [kind, ...names],
        ways.map((way) => [way, ...names.map((name) => rateOf(kind, name, way))]),
      )}\n`,
    )
}
