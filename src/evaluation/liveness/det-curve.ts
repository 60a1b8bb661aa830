import { drawPlot } from '../draw-plot.ts'

/** Scores of one kind of attack against those of live people, 0..1, in any order. */
export type DetCurve = {
  readonly name: string
  readonly live: readonly number[]
  readonly attacks: readonly number[]
}

/** Share of `scores` from `border` on. */
export function shareAtLeast(scores: readonly number[], border: number): number {
  return scores.filter((score) => score >= border).length / scores.length
}

/** APCER at the border that turns away at most the share `bpcer` of the live. */
export function apcerAt({ live, attacks }: Omit<DetCurve, 'name'>, bpcer: number): number {
  const sorted = live.toSorted((a, b) => a - b)
  return shareAtLeast(attacks, sorted[Math.floor(bpcer * sorted.length)] ?? 1)
}

/** Where APCER and BPCER are nearest to each other: their mean. */
export function equalErrorRate({ live, attacks }: Omit<DetCurve, 'name'>): number {
  let best = { apart: 2, rate: 1 }
  for (const border of new Set([...live, ...attacks])) {
    const apcer = shareAtLeast(attacks, border)
    const bpcer = 1 - shareAtLeast(live, border)
    const apart = Math.abs(apcer - bpcer)
    if (apart < best.apart) best = { apart, rate: (apcer + bpcer) / 2 }
  }
  return best.rate
}

/** Draws APCER (right) against BPCER (up), both as log-odds, to `file`, an SVG or a PNG. */
export async function drawDetCurves(file: string, curves: readonly DetCurve[]): Promise<void> {
  const ticks = [0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95].map((rate) => ({
    at: toLogOddsShare(rate),
    text: `${rate * 100} %`,
  }))
  await drawPlot(file, {
    title: 'Detection error trade-off of presentation attacks',
    xAxis: { label: 'APCER, attacks called live', ticks },
    yAxis: { label: 'BPCER, live people turned away', ticks },
    legendAt: { x: 0.03, y: 0.07 },
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
  // Most scores lie near 0 and 1: the scores themselves are the borders to try, thinned out.
  const all = [...live, ...attacks].toSorted((a, b) => a - b)
  return steps.map((step) => {
    const border = all[Math.round(step * (all.length - 1))] ?? 0
    return {
      x: toLogOddsShare(shareAtLeast(attacks, border)),
      y: toLogOddsShare(1 - shareAtLeast(live, border)),
    }
  })
}

const thresholdCount = 200

/** The plot runs from 0.1 % to 99.9 %. */
const rateMin = 0.001

function toLogOddsShare(rate: number): number {
  const bounded = Math.min(1 - rateMin, Math.max(rateMin, rate))
  const end = Math.log(1 / rateMin - 1)
  return (Math.log(bounded / (1 - bounded)) + end) / (2 * end)
}
