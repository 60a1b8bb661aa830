import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { drawDetCurves } from '../../src/evaluation/liveness/det-curve.ts'
import { seededRandom } from '../../src/lib/random/seeded-random.ts'
import {
  acceptancePoints,
  operatingPoints,
} from '../../src/evaluation/verification/acceptance-points.ts'
import { drawRoc } from '../../src/evaluation/verification/draw-roc.ts'
import {
  evaluateVerification,
  extremePairsMax,
} from '../../src/evaluation/verification/evaluate-verification.ts'
import { scoreAllPairs, scorers } from '../../src/evaluation/verification/pair-scores.ts'
import { calibratedFmrs, type Calibration } from '../../src/gallery/calibration/similarity.ts'
import type { Template } from '../../src/vision/embed/template.ts'

const sorted = (...values: number[]): Float32Array => Float32Array.from(values).sort()

/** `count` impostor scores 0, 1, 2, …, and genuine scores above and below all of them. */
function scoresOf(count: number) {
  const impostor = Float32Array.from({ length: count }, (_, index) => index)
  return { genuine: sorted(-1, count, 2 * count, 1e9), impostor }
}

test('A rate is counted from 30 pairs on, extrapolated for two decades below, or not measurable', () => {
  const sourcesFor = (count: number): string[] =>
    acceptancePoints(scoresOf(count)).map(({ source }) => source)
  const none = 'notMeasurable'
  assert.deepEqual(sourcesFor(2999), [none, none, none, none, none])
  assert.deepEqual(sourcesFor(3000), ['counted', none, none, none, none])
  assert.deepEqual(sourcesFor(9999), ['counted', none, none, none, none])
  assert.deepEqual(sourcesFor(10_000), ['counted', 'extrapolated', 'extrapolated', none, none])
  assert.deepEqual(sourcesFor(30_000), ['counted', 'counted', 'extrapolated', 'extrapolated', none])
  assert.deepEqual(sourcesFor(299_999).at(-1), none)
  assert.deepEqual(sourcesFor(300_000).at(-1), 'extrapolated')
  assert.deepEqual(sourcesFor(3_000_000).slice(3), ['counted', 'extrapolated'])

  const points = acceptancePoints(scoresOf(10_000))
  assert.deepEqual(points[0], {
    far: 1e-2,
    source: 'counted',
    impostorsAccepted: 100,
    impostorsNeeded: 3000,
    score: 9899,
    tar: 0.75,
    fewPairs: null,
  })
  assert.deepEqual(points[1]?.fewPairs, { score: 9989, tar: 0.75 }, 'ten pairs are a rough value')
  assert.ok((points[1]?.score ?? 0) > (points[0]?.score ?? 0))
  assert.deepEqual(points[4], {
    far: 1e-6,
    source: none,
    impostorsAccepted: 0,
    impostorsNeeded: 30_000_000,
    score: null,
    tar: null,
    fewPairs: null,
  })
})

test('A set with more pairs than the limit is sampled evenly, and keeps all pairs of one person', () => {
  const random = seededRandom(11)
  const faces = Array.from({ length: 300 }, (_, index) => ({
    person: `person ${index % 100}`,
    template: templateAt(random(), random()),
  }))
  const total = (300 * 299) / 2
  const exact = scoreAllPairs(faces, scorers.raw)
  assert.equal(exact.genuine.length + exact.impostor.length, total)
  assert.deepEqual(scoreAllPairs(faces, scorers.raw, { pairsMax: total }), exact, 'at the limit')

  const seen = new Set<string>()
  const onPair = (a: number, b: number): void => void seen.add(`${a} ${b}`)
  const above = scoreAllPairs(faces, scorers.raw, { pairsMax: total - 1 })
  assert.ok(above.impostor.length < exact.impostor.length, 'above the limit')
  const pairsMax = 9000
  const sampled = scoreAllPairs(faces, scorers.raw, { pairsMax, onPair })
  assert.deepEqual(sampled.genuine, exact.genuine)
  assert.ok(sampled.impostor.length <= pairsMax && sampled.impostor.length > 0.95 * pairsMax)
  assert.equal(
    seen.size,
    sampled.genuine.length + sampled.impostor.length,
    'no pair is drawn twice',
  )
  const [far] = operatingPoints(sampled, [0.1])
  const [exactFar] = operatingPoints(exact, [0.1])
  assert.ok(Math.abs((far?.score ?? 9) - (exactFar?.score ?? 0)) < 0.01)
  const few = scoreAllPairs(faces, scorers.raw, { pairsMax: 100 })
  assert.ok(few.genuine.length <= 100 && few.genuine.length >= 90)
})

test('The report names the worst pairs, and counts errors within and between groups', () => {
  // Each face is a number; the score of two faces is minus their squared distance.
  const positions = { a: [0, 3], b: [10, 11], c: [20, 29.5], d: [30, 31] }
  const images = Object.entries(positions).flatMap(([person, values]) =>
    values.map((value) => ({ person, file: `${person}/${value}.jpg` })),
  )
  const templates = Object.values(positions).flatMap((values) =>
    values.map((value) => templateAt(value, 0)),
  )
  const { report } = evaluateVerification({ images }, templates, {
    calibration,
    groups: { names: ['old', 'young'], indexes: [0, 0, 0, 0, 1, 1, 1, -1], unmatched: ['x'] },
  })
  assert.deepEqual(
    report.worstImpostors.slice(0, 3).map(({ fileA, fileB, score }) => [fileA, fileB, score]),
    [
      ['d/30.jpg', 'c/29.5.jpg', -0.25],
      ['d/31.jpg', 'c/29.5.jpg', -2.25],
      ['b/10.jpg', 'a/3.jpg', -49],
    ],
  )
  assert.equal(report.worstImpostors.length, extremePairsMax, 'of 24')
  assert.deepEqual(
    report.worstGenuines.map(({ fileA, score }) => [fileA, score]),
    [
      ['c/29.5.jpg', -90.25],
      ['a/3.jpg', -9],
      ['b/11.jpg', -1],
      ['d/31.jpg', -1],
    ],
  )
  // At 0.70 the score is −5, at 0.95 it is −0.5.
  assert.deepEqual(
    report.thresholds.map(({ threshold, falseMatches, falseNonMatches }) => [
      threshold,
      falseMatches,
      falseNonMatches,
    ]),
    [
      [0.7, 2, 2],
      [0.8, 2, 2],
      [0.9, 1, 2],
      [0.95, 1, 4],
      ['auto', 2, 2],
    ],
  )
  const { groups } = report
  assert.ok(groups)
  assert.deepEqual([groups.ungroupedPictures, groups.unmatched], [1, ['x']])
  assert.deepEqual(groups.groups, [
    { group: 'old', people: 2, pictures: 4 },
    { group: 'young', people: 2, pictures: 3 },
  ])
  const [old, young] = groups.within
  assert.deepEqual([old?.genuine, old?.impostor, young?.genuine, young?.impostor], [2, 4, 1, 2])
  assert.deepEqual(old?.rates[0], {
    similarity: 0.7,
    falseMatches: 0,
    fmr: 0,
    falseNonMatches: 1,
    fnmr: 0.5,
  })
  assert.deepEqual([young?.rates[0]?.fmr, young?.rates[0]?.fnmr], [0.5, 1])
  const [between] = groups.between
  assert.deepEqual(
    [between?.groups, between?.genuine, between?.impostor],
    [['old', 'young'], 0, 12],
  )
  assert.deepEqual([between?.rates[0]?.fmr, between?.rates[0]?.fnmr], [0, null])
})

const calibration: Calibration = {
  modelId: 'test@1',
  set: 'numbers',
  measuredOn: '2026-01-01',
  people: 4,
  pictures: 8,
  impostorPairs: 24,
  genuinePairs: 4,
  method: 'chosen',
  points: [-30, -20, -5, -4, -2, -0.5].map((score, index) => ({
    fmr: calibratedFmrs[index] ?? 0,
    score,
    source: 'counted',
  })),
  lowestScore: -1000,
  identicalScore: 0,
}

function templateAt(x: number, y: number): Template {
  return { modelId: 'test@1', vector: Float32Array.from([x, y]), density: 0 }
}

/** Texts and curves of an SVG plot, in pixels. */
async function readPlot(file: string) {
  const svg = await readFile(file, 'utf8')
  const texts = [...svg.matchAll(/<text x="([\d.]+)" y="([\d.]+)"([^>]*)>([^<]*)<\/text>/gu)].map(
    ([, x, y, attributes = '', text = '']) => ({ x: Number(x), y: Number(y), attributes, text }),
  )
  const curves = [...svg.matchAll(/points="([^"]*)"/gu)].map(([, points = '']) =>
    points.split(' ').map((point) => {
      const [x = 0, y = 0] = point.split(',').map(Number)
      return { x, y }
    }),
  )
  const [, width, height] = /<svg [^>]*width="(\d+)" height="(\d+)"/u.exec(svg) ?? []
  return { texts, curves, width: Number(width), height: Number(height) }
}

type PlotText = Awaited<ReturnType<typeof readPlot>>['texts'][number]

/** Returns the horizontal range of a text, with a generous width of each character. */
function rangeOf({ x, y, attributes, text }: PlotText): [number, number] {
  const length = 7.5 * text.length
  const centre = attributes.includes('rotate') ? y : x
  if (attributes.includes('"middle"')) return [centre - length / 2, centre + length / 2]
  return attributes.includes('"end"') ? [x - length, x] : [x, x + length]
}

test('The curve has two named axes, and neither a text nor a point of a curve is outside', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-curves-'))
  try {
    const file = path.join(folder, 'roc.svg')
    // One genuine pair in ten is above nearly all impostors, so the curve falls to 10 %.
    const genuine = sorted(...Array.from({ length: 10 }, (_, index) => 111_111 * index + 0.5))
    const impostor = Float32Array.from({ length: 1_000_000 }, (_, index) => index)
    const curves = [{ name: 'a < b & c', scores: { genuine, impostor }, colour: '#0b6e4f' }]
    await drawRoc(file, curves)
    const { texts, curves: lines, width, height } = await readPlot(file)
    const named = texts.map(({ text }) => text)
    assert.ok(named.includes('true acceptance rate'), named.join())
    assert.ok(named.some((text) => text.startsWith('false acceptance rate (below 3.0e-5')))
    assert.ok(named.includes('a &lt; b &amp; c'), 'names are escaped')
    for (const text of texts) {
      const [from, to] = rangeOf(text)
      const limit = text.attributes.includes('rotate') ? height : width
      assert.ok(from >= 0 && to <= limit && text.y <= height, text.text)
    }
    const ticks = texts.filter(({ attributes }) => attributes.includes('"end"'))
    const [low, high] = [ticks[0], ticks.at(-1)]
    assert.ok(low && high)
    // The text of a tick is 4 px below its line.
    const tarOf = (y: number): number =>
      100 - (100 - Number.parseFloat(low.text)) * ((y + 4 - high.y) / (low.y - high.y))
    const tars = (lines[0] ?? []).map(({ y }) => Math.round(tarOf(y)))
    assert.equal(high.text, '100 %')
    assert.equal(Math.min(...tars), 10, 'the lowest rate of the curve is drawn where it belongs')
    assert.equal(Math.max(...tars), 100)
    const offsets = (lines[0] ?? []).map(({ x }) => x)
    assert.equal(new Set(offsets).size, offsets.length, 'no points were moved to an edge')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('The axes of the error trade-off reach the rates that the images can resolve', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-curves-'))
  try {
    const file = path.join(folder, 'det.svg')
    const scores = Array.from({ length: 20_000 }, (_, index) => index / 20_000)
    const live = scores.map((score) => 0.5 + score)
    await drawDetCurves(file, [{ name: 'print', live, attacks: scores }])
    const { texts, curves } = await readPlot(file)
    assert.ok(
      texts.some(({ text }) => text === '0.01 %'),
      texts.map(({ text }) => text).join(),
    )
    assert.ok(texts.some(({ text }) => text.startsWith('APCER, attacks')))
    assert.ok(texts.some(({ text }) => text.startsWith('BPCER, live')))
    const ticks = texts.filter(({ attributes }) => attributes.includes('"end"'))
    assert.ok(ticks.every(({ y }, index) => index === 0 || (ticks[index - 1]?.y ?? 0) - y >= 15))
    const [points = []] = curves
    const lowest = Math.max(...points.map(({ y }) => y))
    assert.ok(points.filter(({ y }) => y === lowest).length <= 102, 'only BPCER 0 is at the edge')
  } finally {
    await rm(folder, { recursive: true })
  }
})
