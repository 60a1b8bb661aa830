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
  let best = { difference: 2, rate: 1 }
  for (const threshold of new Set([...live, ...attacks])) {
    const apcer = shareAtLeast(attacks, threshold)
    const bpcer = 1 - shareAtLeast(live, threshold)
    const difference = Math.abs(apcer - bpcer)
    if (difference < best.difference) best = { difference, rate: (apcer + bpcer) / 2 }
  }
  return best.rate
}

/** Draws APCER (x axis) against BPCER (y axis), both as log-odds, to an SVG or PNG file. */
export async function drawDetCurves(file: string, curves: readonly DetCurve[]): Promise<void> {
  const ticks = [0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95].map((rate) => ({
    position: toLogOddsShare(rate),
    text: `${rate * 100} %`,
  }))
  await drawPlot(file, {
    title: 'Detection error trade-off of presentation attacks',
    xAxis: { label: 'APCER, attacks classified as live', ticks },
    yAxis: { label: 'BPCER, live people rejected', ticks },
    legendPosition: { x: 0.03, y: 0.07 },
    curves: curves.map((curve, index) => ({
      name: curve.name,
      colour: colours[index % colours.length] ?? '#000000',
      points: pointsOf(curve),
    })),
  })
}

const colours = ['#0b6e4f', '#b0413e', '#2c5aa0', '#a6761d', '#6a3d9a', '#444444']

function pointsOf({ live, attacks }: DetCurve) {
  const steps = Array.from({ length: thresholdCount + 1 }, (_, step) => step / thresholdCount)
  // Most scores lie near 0 and 1, so a sample of the scores themselves serves as thresholds.
  const all = [...live, ...attacks].toSorted((a, b) => a - b)
  return steps.map((step) => {
    const threshold = all[Math.round(step * (all.length - 1))] ?? 0
    return {
      x: toLogOddsShare(shareAtLeast(attacks, threshold)),
      y: toLogOddsShare(1 - shareAtLeast(live, threshold)),
    }
  })
}

const thresholdCount = 200

/** The axes range from 0.1 % to 99.9 %. */
const rateMin = 0.001

function toLogOddsShare(rate: number): number {
  const bounded = Math.min(1 - rateMin, Math.max(rateMin, rate))
  const maximum = Math.log(1 / rateMin - 1)
  return (Math.log(bounded / (1 - bounded)) + maximum) / (2 * maximum)
}
