import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { assert as check, double, integer, property, uniqueArray } from 'fast-check'
import { buildCalibration } from '../../src/gallery/calibration/measure/build-calibration.ts'
import { drawRoc } from '../../src/evaluation/verification/draw-roc.ts'
import { foldAccuracy } from '../../src/evaluation/verification/fold-accuracy.ts'
import {
  areaUnderCurve,
  operatingPoints,
} from '../../src/evaluation/verification/acceptance-points.ts'
import {
  scoreAllPairs,
  scorers,
  type PersonTemplate,
} from '../../src/evaluation/verification/pair-scores.ts'
import { measureSearch } from '../../src/evaluation/verification/measure-search.ts'
import { readFaceSet } from '../../src/evaluation/face-images.ts'
import { meanOf, mixCohort } from '../../src/evaluation/calibration/mix-cohort.ts'
import { squaredDistance } from '../../src/lib/density/vectors.ts'
import { principalAxes } from '../../eval/fit/principal-axes.ts'
import { dirichlet, seededRandom } from '../../src/lib/random/seeded-random.ts'
import { evaluateVerification } from '../../src/evaluation/verification/evaluate-verification.ts'
import type { Template } from '../../src/vision/embed/template.ts'

const sorted = (...values: number[]): Float32Array => Float32Array.from(values).sort()

test('A set is a folder of people or a list of pairs, sorted by file name', async () => {
  await inFolder(async (folder) => {
    for (const file of ['b/2.png', 'a/1.jpg', 'a/2.JPEG', 'a/note.txt', 'stray.jpg'])
      await mkdir(path.join(folder, path.dirname(file)), { recursive: true }).then(() =>
        writeFile(path.join(folder, file), ''),
      )
    const people = await readFaceSet(folder)
    assert.deepEqual(people, {
      images: [
        { file: path.join(folder, 'a/1.jpg'), person: 'a' },
        { file: path.join(folder, 'a/2.JPEG'), person: 'a' },
        { file: path.join(folder, 'b/2.png'), person: 'b' },
      ],
    })
    await writeFile(
      path.join(folder, 'pairs.csv'),
      'fileA,fileB,same\r\nb/2.png,a/1.jpg,0\r\na/2.JPEG,a/1.jpg,1\r\n',
    )
    const listed = await readFaceSet(folder)
    assert.deepEqual(listed.images, people.images)
    assert.deepEqual(listed.pairs, [
      { a: 2, b: 0, same: false },
      { a: 1, b: 0, same: true },
    ])
    await writeFile(path.join(folder, 'pairs.csv'), 'fileA,fileB,same\na/1.jpg,b/2.png,yes\n')
    await assert.rejects(readFaceSet(folder), /line 2 has no fileA, fileB and same/u)
    await assert.rejects(readFaceSet(path.join(folder, 'none')), /cannot read/u)
  })
})

test('Acceptance rates are reported only if the number of pairs can resolve them', () => {
  const impostor = Float32Array.from({ length: 1000 }, (_, index) => index)
  const genuine = sorted(500, 995, 2000, 3000)
  const points = operatingPoints({ genuine, impostor }, [1e-1, 1e-2, 1e-3, 1e-4])
  assert.deepEqual(points, [
    { far: 1e-1, score: 899, tar: 0.75 },
    { far: 1e-2, score: 989, tar: 0.75 },
    { far: 1e-3, score: 998, tar: 0.5 },
  ])
})

test('The area under the curve is 1 for separated scores and 0.5 for equal scores', () => {
  assert.equal(areaUnderCurve({ genuine: sorted(3, 4), impostor: sorted(1, 2) }), 1)
  assert.equal(areaUnderCurve({ genuine: sorted(1, 2), impostor: sorted(1, 2) }), 0.5)
  assert.equal(areaUnderCurve({ genuine: sorted(2), impostor: sorted(1, 3, 3, 3) }), 0.25)
})

test('Each of ten folds is classified with the threshold of the other nine', () => {
  // All but one of each kind lie on their side of zero.
  const pairs = Array.from({ length: 50 }, (_, index) => [
    { same: true, score: index === 0 ? -1000 : 1 + index },
    { same: false, score: index === 0 ? 1000 : -1 - index },
  ]).flat()
  const { accuracy, standardError } = foldAccuracy(pairs)
  assert.ok(Math.abs(accuracy - 0.98) < 1e-9, `${accuracy}`)
  assert.ok(standardError > 0 && standardError < 0.05)
  const withoutFaces = pairs.map((pair) => ({ ...pair, score: -Infinity }))
  assert.equal(foldAccuracy(withoutFaces).accuracy, 0.5, 'images without a face never match')
})

test('The fitted tail reproduces the rates of an exponential distribution', () => {
  const random = seededRandom(3)
  const impostor = Float32Array.from({ length: 200_000 }, () => -Math.log(random())).sort()
  const set = { modelId: 'm@1', set: 's', measuredOn: '2020-01-01', people: 2, pictures: 3 }
  const table = buildCalibration({ genuine: sorted(9), impostor }, [30, 20], set)
  for (const { fmr, score, source } of table.points) {
    assert.equal(source, fmr >= 1e-3 ? 'counted' : 'extrapolated')
    const [scale, error] = [Math.log(1 / fmr), Math.abs(score - Math.log(1 / fmr))]
    assert.ok(error < 0.1 * scale, `${fmr}: ${score}`)
  }
  assert.equal(table.identicalScore, 20)
  assert.equal(table.impostorPairs, 200_000)
  assert.throws(
    () => buildCalibration({ genuine: sorted(9), impostor: sorted(1, 2) }, [3], set),
    /too few/u,
  )
  const [tied, genuine] = [new Float32Array(20_000), sorted(0, 0, 0, 0, 1)]
  tied.set(impostor.subarray(-400), tied.length - 400)
  assert.throws(
    () => buildCalibration({ genuine, impostor: tied }, [3], set),
    /^CalibrationRefusal: 100\.00 % of the pairs of different people reach the score of .* 0\.1:/u,
  )
})

test('Principal axes are orthonormal and span the directions of the largest variance', () => {
  const random = seededRandom(5)
  const spread = [9, 5, 0.1, 0.1, 0.1, 0.1]
  const vectors = Array.from({ length: 300 }, () =>
    Float32Array.from(spread, (width) => width * (random() - 0.5)),
  )
  const axes = principalAxes(vectors, meanOf(vectors), 2, random)
  const [first, second] = [axes.subarray(0, 6), axes.subarray(6)]
  const dot = first.reduce((sum, value, i) => sum + value * (second[i] ?? 0), 0)
  assert.ok(Math.abs(dot) < 1e-5)
  for (const axis of [first, second]) {
    const inside = (axis[0] ?? 0) ** 2 + (axis[1] ?? 0) ** 2
    assert.ok(inside > 0.999 && inside < 1.001)
  }
})

test('Cohort mixtures are as far from the mean as real people and near no one', () => {
  const random = seededRandom(7)
  const vectors = Array.from({ length: 60 }, () =>
    Float32Array.from({ length: 32 }, () => random() - 0.5),
  )
  const people = vectors.map((_, index) => `person ${index >> 1}`)
  const singles = vectors.filter((_, index) => index % 2 === 0)
  const mean = meanOf(singles)
  const lengths = singles.map((single) => Math.sqrt(squaredDistance(single, mean)))
  const deviation = lengths.reduce((sum, length) => sum + length, 0) / lengths.length
  const { rows, nearest } = mixCohort(vectors, people, 50, seededRandom(1))
  assert.equal(rows.length, 50 * 32)
  let smallest = Infinity
  for (let row = 0; row < 50; row++) {
    const mixture = rows.subarray(row * 32, (row + 1) * 32)
    assert.ok(Math.abs(Math.sqrt(squaredDistance(mixture, mean)) / deviation - 1) < 1e-3)
    for (const vector of vectors) smallest = Math.min(smallest, squaredDistance(mixture, vector))
  }
  assert.ok(Math.abs(smallest - nearest) < 1e-5)
  assert.ok(nearest >= 0.45 * deviation ** 2)
  assert.deepEqual(
    mixCohort(vectors, people, 50, seededRandom(1)).rows,
    rows,
    'same seed, same rows',
  )
})

test('Dirichlet shares are positive and sum to one', () => {
  check(
    property(integer(), (seed) => {
      const shares = dirichlet(seededRandom(seed), 3, 4)
      assert.ok(shares.every((share) => share > 0))
      assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9)
    }),
  )
})

test('Searches return enrolled people and report the false-match rate for others', () => {
  const faces = Array.from({ length: 100 }, (_, person) =>
    [0, 0.01].map((offset) => createFace(person, offset)),
  )
  const galleries = measureSearch(faces.flat(), scorers.corrected)
  assert.deepEqual(
    galleries.map(({ gallerySize, mated, nonMated }) => [gallerySize, mated, nonMated]),
    [
      [10, 10, 180],
      [50, 50, 100],
      [100, 100, 0],
    ],
    'every decade, the former sizes and all people',
  )
  const [small, middle, all] = galleries
  assert.deepEqual(
    middle?.points.map(({ fpir }) => fpir),
    [0.1, 0.01],
  )
  assert.deepEqual(all?.points, [], 'no search for others is possible')
  for (const metrics of [small, middle, all]) {
    assert.equal(metrics?.rankOne, 1)
    assert.ok(metrics?.points.every(({ fnir }) => fnir === 0))
  }
  const limited = measureSearch(faces.flat(), scorers.corrected, { comparisonsMax: 500 })
  assert.deepEqual(
    limited.map(({ mated, nonMated }) => [mated, nonMated]),
    [
      [10, 50],
      [10, 10],
      [5, 0],
    ],
    'beyond the limit of comparisons, a part of the images is searched for',
  )
})

test('Every pair is scored once', () => {
  check(
    property(
      uniqueArray(double({ min: 0, max: 50, noNaN: true }), { minLength: 1, maxLength: 12 }),
      (positions) => {
        const faces = positions.map((position, index) => ({
          ...createFace(position, 0),
          person: `${index % 3}`,
        }))
        const { genuine, impostor } = scoreAllPairs(faces, scorers.raw)
        assert.equal(genuine.length + impostor.length, (faces.length * (faces.length - 1)) / 2)
      },
    ),
  )
})

test('An image without a face never matches and is listed with the reason', () => {
  const images = ['a/1', 'a/2', 'b/1', 'b/2'].map((file) => ({ file, person: file.slice(0, 1) }))
  const pairs = [
    { a: 0, b: 1, same: true },
    { a: 2, b: 3, same: true },
    { a: 0, b: 2, same: false },
  ]
  const templates = [createFace(1, 0), createFace(1, 0.1), createFace(9, 0)].map(
    ({ template }) => template,
  )
  const { report } = evaluateVerification(
    { images, pairs },
    [...templates, { unusable: 'NO_FACE_FOUND' }],
    {
      calibration: undefined,
    },
  )
  assert.deepEqual(report.unusable, [{ file: 'b/2', reason: 'NO_FACE_FOUND' }])
  assert.equal(report.corrected.pairs?.genuine, 2)
  assert.equal(report.corrected.pairs?.areaUnderCurve, 0.5)
  assert.deepEqual(report.similarity, [], 'this model has no calibration table')
})

test('The curve is drawn as SVG or PNG, depending on the file extension', async () => {
  await inFolder(async (folder) => {
    const scores = { genuine: sorted(1, 2, 3), impostor: sorted(...Array(200).keys()) }
    const curves = [{ name: 'corrected', scores, colour: '#0b6e4f' }]
    await drawRoc(path.join(folder, 'curve.svg'), curves)
    assert.match(
      await readFile(path.join(folder, 'curve.svg'), 'utf8'),
      /<polyline [^>]*points="\d/u,
    )
    await drawRoc(path.join(folder, 'curve.png'), curves)
    const png = await readFile(path.join(folder, 'curve.png'))
    assert.equal(png.subarray(1, 4).toString(), 'PNG')
    await assert.rejects(drawRoc(path.join(folder, 'curve.gif'), curves), /neither/u)
  })
})

function createFace(position: number, offset: number): PersonTemplate {
  const vector = Float32Array.from([position, offset, 0, 0])
  const template: Template = { modelId: 'test@1', vector, density: -1 }
  return { person: `person ${position}`, template }
}

async function inFolder(useFolder: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-evaluation-'))
  try {
    await useFolder(folder)
  } finally {
    await rm(folder, { recursive: true })
  }
}
