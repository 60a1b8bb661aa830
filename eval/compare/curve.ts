import { drawPlot } from './plot.ts'
import { operatingPoints } from './roc.ts'
import type { Scores } from './scores.ts'

/** One line of the picture. */
export type Curve = { readonly name: string; readonly scores: Scores; readonly colour: string }

/**
 * Draws how many pairs of one person match (up) against how many pairs of strangers do (right, a
 * logarithmic scale) to `file`, an SVG or a PNG by its name.
 */
export async function drawCurves(file: string, curves: readonly Curve[]): Promise<void> {
  const decades = Array.from({ length: 1 - decadeMin }, (_, index) => decadeMin + index)
  const tars = [0.5, 0.6, 0.7, 0.8, 0.9, 1]
  await drawPlot(file, {
    title: 'True against false acceptance, all pairs',
    across: {
      label: 'false acceptance rate',
      ticks: decades.map((decade) => ({ at: across(10 ** decade), text: `${10 ** decade}` })),
    },
    up: { ticks: tars.map((tar) => ({ at: up(tar), text: `${tar * 100} %` })) },
    curves: curves.map(({ name, colour, scores }) => ({ name, colour, points: pointsOf(scores) })),
  })
}

const decadeMin = -6
const tarMin = 0.5

function pointsOf(scores: Scores) {
  const steps = Array.from(
    { length: 1 + 20 * -decadeMin },
    (_, step) => 10 ** (decadeMin + step / 20),
  )
  return operatingPoints(scores, steps).map(({ far, tar }) => ({ x: across(far), y: up(tar) }))
}

function across(far: number): number {
  return 1 - Math.log10(far) / decadeMin
}

function up(tar: number): number {
  return (Math.max(tar, tarMin) - tarMin) / (1 - tarMin)
}
