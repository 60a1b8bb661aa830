import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calibrateGallery } from '../../src/gallery/calibration/measure/calibrate-gallery.ts'
import {
  lowestSupportedFmr,
  requireSupport,
  subjectsToCount,
  subjectsToSupport,
} from '../../src/gallery/calibration/measure/supported-rates.ts'
import { seededRandom, type RandomSource } from '../../src/lib/random/seeded-random.ts'
import { shareAbove } from '../../src/gallery/calibration/measure/sorted-scores.ts'
import type { GalleryTemplates } from '../../src/gallery/calibration/read-templates.ts'
import { correctedScore, type Calibration } from '../../src/gallery/calibration/similarity.ts'

/** Not a multiple of eight: the kernel pads the rows. */
const dimensions = 30

/** A table that is far too lenient for the people of these tests. */
const shipped: Calibration = {
  modelId: 'people@1',
  set: 'chosen',
  measuredOn: '2026-01-01',
  people: 0,
  pictures: 0,
  impostorPairs: 0,
  genuinePairs: 0,
  method: 'chosen',
  points: [1, 2, 3, 4, 5, 6].map((power) => ({
    fmr: 10 ** -power,
    score: -1.2 + power * 0.1,
    source: 'counted',
  })),
  lowestScore: -4,
  identicalScore: 0.5,
}

function gaussian(random: RandomSource): number {
  return Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
}

/** People of two kinds; people of one kind resemble each other. */
function createTemplates(
  subjects: number,
  seed: number,
  templatesPerSubject = 1,
): GalleryTemplates {
  const random = seededRandom(seed)
  const kinds = ['crew', 'guests'].map(() => randomVector(random))
  const vectors: Float32Array[] = []
  const subjectOf: number[] = []
  for (let subject = 0; subject < subjects; subject++) {
    const kind = kinds[subject % 2] ?? randomVector(random)
    const mean = randomVector(random).map((value, index) => value + 0.5 * (kind[index] ?? 0))
    for (let take = 0; take < templatesPerSubject; take++) {
      vectors.push(normalize(mean.map((value) => value + 0.05 * gaussian(random))))
      subjectOf.push(subject)
    }
  }
  return {
    modelId: 'people@1',
    subjects: Array.from({ length: subjects }, (_, index) => ({
      subjectId: `subject-${index}`,
      externalId: null,
      groups: [index % 2 === 0 ? 'crew' : 'guests'],
    })),
    dimensions,
    vectors: Float32Array.from(vectors.flatMap((vector) => [...vector])),
    densities: Float64Array.from(vectors, () => -0.1 * random()),
    subjectOf: Int32Array.from(subjectOf),
    unreadable: 0,
    otherFaces: 0,
    faces: [],
  }
}

function randomVector(random: RandomSource): Float32Array {
  return normalize(Float32Array.from({ length: dimensions }, () => gaussian(random)))
}

function normalize(vector: Float32Array): Float32Array {
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const options = {
  galleryId: 'g',
  shipped,
  exclude: [],
  downTo: undefined,
  measuredOn: '2026-11-22',
  onProgress: () => undefined,
}

function allScores(templates: GalleryTemplates): Float32Array {
  const { vectors, densities, subjectOf } = templates
  const at = (index: number) => ({
    vector: vectors.subarray(index * dimensions, (index + 1) * dimensions),
    density: densities[index] ?? 0,
  })
  const scores = [...subjectOf.keys()].flatMap((a) =>
    Array.from({ length: a }, (_, b) => b)
      .filter((b) => subjectOf[a] !== subjectOf[b])
      .map((b) => correctedScore(at(a), at(b))),
  )
  return Float32Array.from(scores).sort()
}

test('The table of half of the people predicts the rates of the other half', () => {
  const both = createTemplates(600, 2)
  const split = (from: number, to: number): GalleryTemplates => ({
    ...both,
    subjects: both.subjects.slice(from, to),
    vectors: both.vectors.slice(from * dimensions, to * dimensions),
    densities: both.densities.slice(from, to),
    subjectOf: both.subjectOf.slice(from, to).map((subject) => subject - from),
  })
  const { calibration } = calibrateGallery(split(0, 300), options)
  const others = allScores(split(300, 600))
  for (const { fmr, score } of calibration.points.filter((point) => point.fmr >= 0.9e-3)) {
    const measured = shareAbove(others, score)
    assert.ok(measured > fmr / 2 && measured < fmr * 2, `${measured} instead of ${fmr}`)
  }
})

test('The scores and counted rates are those of all pairs of different subjects', () => {
  const templates = createTemplates(201, 3, 2)
  const { report, scores } = calibrateGallery(templates, options)
  const expected = allScores(templates)
  assert.equal(report.pairs, (402 * 401) / 2 - 201)
  assert.equal(scores.length, expected.length)
  for (const [index, score] of scores.entries())
    assert.ok(Math.abs(score - (expected[index] ?? NaN)) < 1e-5)
})

test('Beyond the limit of pairs, each run compares the same random sample', () => {
  const templates = createTemplates(250, 4)
  const runs = [1, 2].map(() => calibrateGallery(templates, { ...options, pairsMax: 20_000 }))
  const [first, second] = runs
  assert.equal(first?.report.pairs, 20_000)
  assert.equal(first?.report.sampledFrom, (250 * 249) / 2)
  assert.deepEqual(first?.scores, second?.scores)
  const all = calibrateGallery(templates, { ...options, pairsMax: (250 * 249) / 2 })
  assert.equal(all.report.sampledFrom, null)
  const [sampled, complete] = [first, all].map((run) => run?.report.points[1]?.score ?? NaN)
  assert.ok(Math.abs((sampled ?? NaN) - (complete ?? NaN)) < 0.05)
})

test('The rates within and between groups are counted at both tables', () => {
  const templates = createTemplates(300, 5)
  const { report, calibration } = calibrateGallery(templates, options)
  const { vectors, densities } = templates
  const at = (index: number) => ({
    vector: vectors.subarray(index * dimensions, (index + 1) * dimensions),
    density: densities[index] ?? 0,
  })
  const rate = (isPair: (a: number, b: number) => boolean, threshold: number): number => {
    const scores = [...templates.subjectOf.keys()].flatMap((a) =>
      [...templates.subjectOf.keys()]
        .filter((b) => b < a && isPair(a, b))
        .map((b) => correctedScore(at(a), at(b))),
    )
    return scores.filter((score) => score >= threshold).length / scores.length
  }
  const rows = new Map(report.groups.map((row) => [row.groups.join(), row]))
  const between = rows.get('crew,guests')
  const within = rows.get('crew,crew')
  assert.ok(between && within)
  assert.deepEqual([within.pairs, between.pairs], [(150 * 149) / 2, 150 * 150])
  const crewPair = (a: number, b: number): boolean => a % 2 === 0 && b % 2 === 0
  const mixedPair = (a: number, b: number): boolean => a % 2 !== b % 2
  const own = calibration.points[2]?.score ?? NaN
  const near = (a: number, b: number): void => assert.ok(Math.abs(a - b) < 2e-4, `${a}, ${b}`)
  near(within.shipped.fmr1e3, rate(crewPair, shipped.points[2]?.score ?? NaN))
  near(between.shipped.fmr1e3, rate(mixedPair, shipped.points[2]?.score ?? NaN))
  near(within.gallery.fmr1e3, rate(crewPair, own))
  near(between.gallery.fmr1e3, rate(mixedPair, own))
  assert.ok(within.gallery.fmr1e3 > between.gallery.fmr1e3)
})

test('A rate below the supported one is as strict as the steps of the model or of the tail', () => {
  const { calibration, report } = calibrateGallery(createTemplates(200, 6), options)
  assert.equal(report.lowestFmr, 1e-4)
  const scores = calibration.points.map(({ score }) => score)
  const sources = calibration.points.map(({ source }) => source)
  assert.deepEqual(sources.slice(4), ['model', 'model'])
  for (const index of [4, 5])
    assert.ok((scores[index] ?? NaN) - (scores[index - 1] ?? NaN) >= 0.1 - 1e-3)
  const stricter = calibrateGallery(createTemplates(200, 6), { ...options, downTo: 1e-3 })
  assert.deepEqual(
    stricter.calibration.points.map(({ source }) => source),
    ['counted', 'counted', 'counted', 'model', 'model', 'model'],
  )
})

test('Each rate needs its number of subjects', () => {
  assert.deepEqual([1e-3, 1e-4, 1e-5, 1e-6].map(subjectsToCount), [200, 633, 2000, 6325])
  assert.deepEqual([1e-3, 1e-4, 1e-5, 1e-6].map(subjectsToSupport), [200, 200, 633, 2000])
  assert.deepEqual([199, 200, 632, 633, 1999, 2000].map(lowestSupportedFmr), [
    undefined,
    1e-4,
    1e-4,
    1e-5,
    1e-5,
    1e-6,
  ])
  assert.throws(() => requireSupport(199, 1e-3), /enroll 1 more, and use the table of the model/u)
  assert.throws(() => requireSupport(1999, 1e-6), /enroll 1 more, or pass --down-to 1e-5/u)
  requireSupport(2000, 1e-6)
})
