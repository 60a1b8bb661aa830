import { countBelow } from '../../gallery/calibration/measure/sorted-scores.ts'
import { drawPlot } from '../draw-plot.ts'

/** Scores of live people and of one kind of attack, 0..1, in any order. */
export type DetCurve = {
  readonly name: string
  readonly live: readonly number[]
  readonly attacks: readonly number[]
}

/** Returns the share of `scores` that are at least `threshold`. */
export function shareAtLeast(scores: readonly number[], threshold: number): number {
  return scores.filter((score) => score >= threshold).length / scores.length
}

/** Returns the APCER at the threshold that rejects at most the share `bpcer` of the live people. */
export function apcerAt({ live, attacks }: Omit<DetCurve, 'name'>, bpcer: number): number {
  const sorted = live.toSorted((a, b) => a - b)
  return shareAtLeast(attacks, sorted[Math.floor(bpcer * sorted.length)] ?? 1)
}

/** Returns the mean of APCER and BPCER at the threshold where they differ least. */
export function equalErrorRate({ live, attacks }: Omit<DetCurve, 'name'>): number {
  const sortedLive = Float64Array.from(live).sort()
  const sortedAttacks = Float64Array.from(attacks).sort()
  let best = { difference: 2, rate: 1 }
  for (const threshold of new Set([...live, ...attacks])) {
    const apcer = shareFrom(sortedAttacks, threshold)
    const bpcer = 1 - shareFrom(sortedLive, threshold)
    const difference = Math.abs(apcer - bpcer)
    if (difference < best.difference) best = { difference, rate: (apcer + bpcer) / 2 }
  }
  return best.rate
}

/** Returns the share of `sorted` (ascending) that is at least `threshold`. */
function shareFrom(sorted: Float64Array, threshold: number): number {
  return (sorted.length - countBelow(sorted, threshold)) / sorted.length
}

/**
 * Draws APCER (x axis) against BPCER (y axis), both as log-odds, to an SVG or PNG file. Log-odds of 0
 * and 1 are infinite, so these rates are drawn at the edges; the axes reach every other rate that the
 * number of images can resolve.
 */
export async function drawDetCurves(file: string, curves: readonly DetCurve[]): Promise<void> {
  const count = curves.reduce(
    (most, { live, attacks }) => Math.max(most, live.length, attacks.length),
    1,
  )
  const rateMin = Math.min(rateMinDefault, 10 ** Math.floor(-Math.log10(count)))
  const toPosition = (rate: number): number => logOddsPosition(rate, rateMin)
  const ticks = ticksOf(rateMin)
  await drawPlot(file, {
    title: 'Detection error trade-off of presentation attacks',
    xAxis: { label: 'APCER, attacks classified as live (0 and 100 % at the edges)', ticks },
    yAxis: { label: 'BPCER, live people rejected (0 and 100 % at the edges)', ticks },
    legendPosition: { x: 0.03, y: 0.07 },
    curves: curves.map((curve, index) => ({
      name: curve.name,
      colour: colours[index % colours.length] ?? '#000000',
      points: pointsOf(curve, toPosition),
    })),
  })
}

const colours = ['#0b6e4f', '#b0413e', '#2c5aa0', '#a6761d', '#6a3d9a', '#444444']

/** The axes range at least from 0.1 % to 99.9 %. */
const rateMinDefault = 0.001

const tickRates = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95, 0.99, 0.999]

/** Two labels closer than this share of an axis would overlap. */
const tickDistanceMin = 0.06

function ticksOf(rateMin: number): { readonly position: number; readonly text: string }[] {
  let last = -Infinity
  return tickRates
    .filter((rate) => rate >= rateMin)
    .map((rate) => ({
      position: logOddsPosition(rate, rateMin),
      text: `${Number((100 * rate).toPrecision(3))} %`,
    }))
    .filter(({ position }) => {
      const isFree = position - last >= tickDistanceMin
      if (isFree) last = position
      return isFree
    })
}

function pointsOf({ live, attacks }: DetCurve, toPosition: (rate: number) => number) {
  const steps = Array.from({ length: thresholdCount + 1 }, (_, step) => step / thresholdCount)
  // Most scores lie near 0 and 1, so a sample of the scores themselves serves as thresholds.
  const all = [...live, ...attacks].toSorted((a, b) => a - b)
  return steps.map((step) => {
    const threshold = all[Math.round(step * (all.length - 1))] ?? 0
    return {
      x: toPosition(shareAtLeast(attacks, threshold)),
      y: toPosition(1 - shareAtLeast(live, threshold)),
    }
  })
}

const thresholdCount = 200

function logOddsPosition(rate: number, rateMin: number): number {
  const bounded = Math.min(1 - rateMin, Math.max(rateMin, rate))
  const maximum = Math.log(1 / rateMin - 1)
  return (Math.log(bounded / (1 - bounded)) + maximum) / (2 * maximum)
}
