import { drawPlot } from '../draw-plot.ts'
import { operatingPoints } from './operating-points.ts'
import type { PairScores } from './pair-scores.ts'

/** One curve of the chart. */
export type RocCurve = {
  readonly name: string
  readonly scores: PairScores
  readonly colour: string
}

/**
 * Draws the true acceptance rate (y axis) against the false acceptance rate (x axis, logarithmic).
 *
 * @param file the image to write: `.svg` or `.png`.
 */
export async function drawRoc(file: string, curves: readonly RocCurve[]): Promise<void> {
  const decades = Array.from({ length: 1 - decadeMin }, (_, index) => decadeMin + index)
  const tars = [0.5, 0.6, 0.7, 0.8, 0.9, 1]
  await drawPlot(file, {
    title: 'True acceptance against false acceptance, all pairs',
    xAxis: {
      label: 'false acceptance rate',
      ticks: decades.map((decade) => ({ position: farToX(10 ** decade), text: `${10 ** decade}` })),
    },
    yAxis: { ticks: tars.map((tar) => ({ position: tarToY(tar), text: `${tar * 100} %` })) },
    curves: curves.map(({ name, colour, scores }) => ({ name, colour, points: pointsOf(scores) })),
  })
}

const decadeMin = -6
const tarMin = 0.5

function pointsOf(scores: PairScores) {
  const steps = Array.from(
    { length: 1 + 20 * -decadeMin },
    (_, step) => 10 ** (decadeMin + step / 20),
  )
  return operatingPoints(scores, steps).map(({ far, tar }) => ({ x: farToX(far), y: tarToY(tar) }))
}

function farToX(far: number): number {
  return 1 - Math.log10(far) / decadeMin
}

function tarToY(tar: number): number {
  return (Math.max(tar, tarMin) - tarMin) / (1 - tarMin)
}
