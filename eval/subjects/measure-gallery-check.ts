/**
 * Measures what `facegate gallery check` finds: planted pictures of other people, right pictures that
 * it flags, planted duplicates, and how near the predicted misses are to those of further pictures:
 *
 *   node eval/subjects/measure-gallery-check.ts <folder of the mixtures> <folder|pairs.csv> [splits, 4]
 *
 * Splits the people at random into two halves, learns the template from one half, with a cohort that
 * the mixtures extend, and checks galleries of the other half, then swaps the halves. The similarities
 * are those of the table that ships.
 *
 * Mislabelled: each gallery has all pictures of the half. A tenth of the subjects with two or more
 * pictures get a picture of another person, who has lost it and is enrolled or not. Duplicates: a
 * tenth of the people with two or more pictures are enrolled twice. Predicted misses: galleries of
 * drawn pictures (the mean of a person, and the deviation of a picture of another person from the mean
 * of that person), with one to five pictures per subject, and five further ones that are searched for.
 * The deviations of each gallery are multiplied by 1 to 1.5, as if its cameras were worse, and 30 to
 * 100 % of its subjects have several pictures. Real pictures: the people with three or more; one
 * picture of each is searched for; these galleries are small, so only their sum is compared.
 */
import { markdownTable } from '../../bench/support/table.ts'
import { foldsByPerson } from '../../src/evaluation/calibration/held-out-scores.ts'
import type { PersonTemplate } from '../../src/evaluation/verification/pair-scores.ts'
import shippedTable from '../../src/gallery/calibration/dlib-faceres-256@1.json' with { type: 'json' }
import {
  autoThreshold,
  scoreAt,
  scoreOf,
  type Calibration,
} from '../../src/gallery/calibration/similarity.ts'
import type { GalleryTemplates } from '../../src/gallery/calibration/read-templates.ts'
import { checkGallery } from '../../src/gallery/health/check-gallery.ts'
import { mergeTemplates, spreadShares } from '../../src/lib/density/merge-templates.ts'
import { seededRandom, shuffled } from '../../src/lib/random/seeded-random.ts'
import { readTemplateModel } from '../../src/models/template/template-model.ts'
import { embedFaceSet } from '../fit/embed-face-set.ts'
import { readMixtureRows } from '../fit/mixture-rows.ts'
import { drawPeople, type MeasuredPeople, type People } from './draw-people.ts'
import { learnTemplate } from './learn-template.ts'

const calibration = shippedTable as unknown as Calibration
const plantedShare = 0.1
const galleriesPerHalf = 10
const drawnGalleries = 20
const drawnProbes = 5

/** A subject with its pictures; the person of a picture can be another one. */
type Subject = { readonly name: string; readonly pictures: readonly PersonTemplate[] }
const counts = new Map<string, number>()

function add(name: string, count = 1): void {
  counts.set(name, (counts.get(name) ?? 0) + count)
}

function toTemplates(subjects: readonly Subject[]): GalleryTemplates {
  const pictures = subjects.flatMap(({ pictures: own }, subject) =>
    own.map(({ template }) => ({ template, subject })),
  )
  return {
    modelId: calibration.modelId,
    subjects: subjects.map(({ name }) => ({ subjectId: name, externalId: name, groups: [] })),
    dimensions: pictures[0]?.template.vector.length ?? 0,
    vectors: Float32Array.from(pictures.flatMap(({ template }) => [...template.vector])),
    densities: Float64Array.from(pictures, ({ template }) => template.density),
    subjectOf: Int32Array.from(pictures, ({ subject }) => subject),
    faces: pictures.map((_, index) => ({
      faceId: String(index),
      createdAtUtc: '2026-01-01T00:00:00Z',
    })),
    unreadable: 0,
    otherFaces: 0,
  }
}

function check(subjects: readonly Subject[]) {
  return checkGallery(toTemplates(subjects), {
    galleryId: 'measured',
    calibration,
    nowMs: Date.parse('2026-06-01'),
    isDistinct: () => false,
    onProgress: () => undefined,
  })
}

function toSubjects(people: People): Subject[] {
  return people.map((pictures) => ({ name: pictures[0]?.person ?? '', pictures }))
}

/** Plants pictures of other people. The owners of these pictures keep others, or leave the gallery. */
function measureMislabels(
  { people, random }: MeasuredPeople,
  owners: 'enrolled' | 'unknown',
): void {
  const several = shuffled(
    random,
    people.filter((pictures) => pictures.length > 1),
  )
  const planted = Math.max(1, Math.round(several.length * plantedShare))
  const receivers = several.slice(0, planted)
  const givers = several.slice(planted, 2 * planted)
  const subjects = toSubjects(people).flatMap(({ name, pictures }): Subject[] => {
    const [receives, gives] = [receivers, givers].map((list) =>
      list.findIndex(([first]) => first?.person === name),
    )
    const wrong = givers[receives ?? -1]?.[0]
    if (receives !== undefined && receives >= 0 && wrong)
      return [{ name, pictures: [...pictures, wrong] }]
    if (gives === undefined || gives < 0) return [{ name, pictures }]
    return owners === 'unknown' ? [] : [{ name, pictures: pictures.slice(1) }]
  })
  const bySize = new Map(subjects.map((subject) => [subject.name, subject]))
  for (const { subjectId, pictures } of check(subjects).results) {
    const subject = bySize.get(subjectId)
    const wrongAt = subject?.pictures.findIndex(({ person }) => person !== subjectId) ?? -1
    const issues = pictures.map(({ issue }) => issue)
    if (wrongAt < 0) {
      add(`${owners} right`, pictures.length)
      add(`${owners} right of several`, pictures.length > 1 ? pictures.length : 0)
      for (const issue of issues) if (issue !== null) add(`${owners} right ${issue}`)
      continue
    }
    add(`${owners} planted`)
    const ids = pictures.map(({ faceId }) => Number(faceId)).toSorted((a, b) => a - b)
    const wrong = pictures.find(({ faceId }) => Number(faceId) === ids.at(-1))
    add(`${owners} planted ${wrong?.issue ?? 'missed'}`)
    add(`${owners} beside`, pictures.length - 1)
    add(
      `${owners} beside flagged`,
      pictures.filter((picture) => picture !== wrong && picture.issue === 'otherPerson').length,
    )
  }
}

/** Enrolls people twice, each time with a half of their pictures. */
function measureDuplicates({ people, random }: MeasuredPeople): void {
  const several = shuffled(
    random,
    people.filter((pictures) => pictures.length > 1),
  )
  const twice = new Set(several.slice(0, Math.round(several.length * plantedShare)))
  const subjects = people.flatMap((pictures): Subject[] => {
    const name = pictures[0]?.person ?? ''
    if (!twice.has(pictures)) return [{ name, pictures }]
    const middle = Math.ceil(pictures.length / 2)
    return [
      { name, pictures: pictures.slice(0, middle) },
      { name: `${name} again`, pictures: pictures.slice(middle) },
    ]
  })
  const { duplicates } = check(subjects)
  add('twice', twice.size)
  for (const { subjectA, subjectB } of duplicates) {
    const [a, b] = [subjectA.subjectId, subjectB.subjectId]
    add(a === `${b} again` || b === `${a} again` ? 'twice found' : 'twice wrong')
  }
}

const real = { predicted: 0, missed: 0, probes: 0 }

/** Enrolls people with three or more pictures except one picture, which is searched for. */
function measureRealPrediction({ people, random }: MeasuredPeople): void {
  const held = people
    .filter((pictures) => pictures.length > 2)
    .map((pictures) => shuffled(random, pictures))
  const { predictedMisses } = check(toSubjects(held.map((pictures) => pictures.slice(1))))
  const limit = scoreAt(autoThreshold(held.length), calibration)
  for (const [probe, ...enrolled] of held) {
    const templates = enrolled.map(({ template }) => template)
    const merged = mergeTemplates(templates, spreadShares.subject)
    if (!probe || !predictedMisses) continue
    real.predicted += predictedMisses.rate
    real.missed += scoreOf(probe.template, merged) < limit ? 1 : 0
    real.probes += 1
  }
}

type Prediction = {
  readonly predicted: number
  readonly measured: number
  readonly subjects: number
}
const predictions: Prediction[] = []

function measurePrediction({ people, createTemplate, random }: MeasuredPeople): void {
  const drawn = drawPeople({ people, createTemplate, random }, 1 + random() / 2)
  const share = 0.7 * random()
  const subjects: Subject[] = []
  const further: PersonTemplate[][] = []
  for (const draw of shuffled(random, drawn).slice(0, 60 + Math.floor(random() * 120))) {
    const size = random() < share ? 1 : 2 + Math.floor(random() * 4)
    const pictures = Array.from({ length: size }, draw)
    subjects.push({ name: pictures[0]?.person ?? '', pictures })
    further.push(Array.from({ length: drawnProbes }, draw))
  }
  const { predictedMisses } = check(subjects)
  const limit = scoreAt(autoThreshold(subjects.length), calibration)
  const merged = subjects.map(({ pictures }) =>
    mergeTemplates(
      pictures.map(({ template }) => template),
      spreadShares.subject,
    ),
  )
  let missed = 0
  for (const [subject, probes] of further.entries())
    for (const { template } of probes) {
      const scores = merged.map((row) => scoreOf(template, row))
      const own = scores[subject] ?? 0
      if (own < limit || scores.some((score) => score > own)) missed += 1
    }
  if (predictedMisses)
    predictions.push({
      predicted: predictedMisses.rate,
      measured: missed / (subjects.length * drawnProbes),
      subjects: subjects.length,
    })
}

const [mixturesFolder, source, splits = '4'] = process.argv.slice(2)
if (!mixturesFolder || !source) throw new Error('pass the mixtures and a set')
const { fused: mixtures } = await readMixtureRows(mixturesFolder, await readTemplateModel())
const samples = await embedFaceSet(source)
for (let seed = 0; seed < Number(splits); seed++) {
  const [first = [], second = []] = foldsByPerson(samples, 2, seed)
  for (const [learnt, measured] of [
    [first, second],
    [second, first],
  ] as const) {
    const { createTemplate, toFace } = learnTemplate(learnt, mixtures, calibration.modelId)
    const people = [...Map.groupBy(measured.map(toFace), ({ person }) => person).values()]
    const half = { people, createTemplate, random: seededRandom(seed + 1) }
    for (let gallery = 0; gallery < galleriesPerHalf; gallery++) {
      measureMislabels(half, 'enrolled')
      measureMislabels(half, 'unknown')
      measureDuplicates(half)
      measureRealPrediction(half)
    }
    const each = Math.ceil(drawnGalleries / (2 * Number(splits)))
    for (let gallery = 0; gallery < each && predictions.length < drawnGalleries; gallery++)
      measurePrediction(half)
  }
}
const percent = (part: string, whole: string): string =>
  `${((100 * (counts.get(part) ?? 0)) / (counts.get(whole) ?? 0)).toFixed(2)} % (${counts.get(part) ?? 0} of ${counts.get(whole) ?? 0})`
console.log(
  markdownTable(
    [
      'owner of the picture',
      'found',
      'subject named without the picture',
      'right pictures flagged',
      'of these harmful only',
      'right pictures beside a planted one flagged',
    ],
    ['enrolled', 'unknown'].map((owners) => {
      const flagged = ['otherPerson', 'differentPeople'].reduce(
        (sum, issue) => sum + (counts.get(`${owners} right ${issue}`) ?? 0),
        0,
      )
      counts.set(`${owners} flagged`, flagged)
      return [
        owners,
        percent(`${owners} planted otherPerson`, `${owners} planted`),
        percent(`${owners} planted differentPeople`, `${owners} planted`),
        percent(`${owners} flagged`, `${owners} right of several`),
        percent(`${owners} right harmful`, `${owners} right of several`),
        percent(`${owners} beside flagged`, `${owners} beside`),
      ]
    }),
  ),
)
console.log(
  `\nduplicates found: ${percent('twice found', 'twice')}; other pairs listed: ${counts.get('twice wrong') ?? 0} in ${2 * Number(splits) * galleriesPerHalf} galleries\n`,
)
console.log(
  markdownTable(
    ['subjects', 'predicted misses, %', 'measured, %', 'difference'],
    predictions.map(({ subjects, predicted, measured }) => [
      String(subjects),
      (100 * predicted).toFixed(1),
      (100 * measured).toFixed(1),
      (100 * (predicted - measured)).toFixed(1),
    ]),
  ),
)
const near = predictions.filter(({ predicted, measured }) => Math.abs(predicted - measured) <= 0.05)
const rateOf = (sum: number): string => `${((100 * sum) / real.probes).toFixed(1)} %`
console.log(
  `\nreal pictures: ${rateOf(real.predicted)} predicted, ${rateOf(real.missed)} of ${real.probes} searches missed`,
)
console.log(`\nwithin 5 points: ${near.length} of ${predictions.length}`)
