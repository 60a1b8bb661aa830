import { countedPairsMin } from '../../gallery/calibration/measure/build-calibration.ts'
import { drawPlot } from '../draw-plot.ts'
import { operatingPoints, type OperatingPoint } from './acceptance-points.ts'
import type { PairScores } from './pair-scores.ts'

/** One curve of the chart. */
export type RocCurve = {
  readonly name: string
  readonly scores: PairScores
  readonly colour: string
}

/**
 * Draws the true acceptance rate (y axis) against the false acceptance rate (x axis, logarithmic).
 * The axes begin below the lowest rates of the curves, so that no part of a curve is outside.
 *
 * @param file the image to write: `.svg` or `.png`.
 */
export async function drawRoc(file: string, curves: readonly RocCurve[]): Promise<void> {
  const pairCount = curves.reduce((most, { scores }) => Math.max(most, scores.impostor.length), 0)
  const decadeMin = Math.min(-1, Math.max(decadeLowest, Math.floor(-Math.log10(pairCount))))
  const measured = curves.map((curve) => ({ ...curve, points: pointsOf(curve.scores, decadeMin) }))
  const tarAxis = tarAxisOf(measured.flatMap(({ points }) => points))
  const farToX = (far: number): number => 1 - Math.log10(far) / decadeMin
  const tarToY = (tar: number): number => (tar - tarAxis.from) / (1 - tarAxis.from)
  const decades = Array.from({ length: 1 - decadeMin }, (_, index) => decadeMin + index)
  const countedFrom = (countedPairsMin / pairCount).toExponential(1)
  await drawPlot(file, {
    title: 'True acceptance against false acceptance, all pairs',
    xAxis: {
      label: `false acceptance rate (below ${countedFrom}: fewer than ${countedPairsMin} pairs)`,
      ticks: decades.map((decade) => ({
        position: farToX(10 ** decade),
        text: decade === 0 ? '1' : `1e${decade}`,
      })),
    },
    yAxis: {
      label: 'true acceptance rate',
      ticks: tarAxis.ticks.map((tar) => ({
        position: tarToY(tar),
        text: `${Math.round(tar * 100)} %`,
      })),
    },
    curves: measured.map(({ name, colour, points }) => ({
      name,
      colour,
      points: points.map(({ far, tar }) => ({ x: farToX(far), y: tarToY(tar) })),
    })),
  })
}

/** Lower rates need more pairs than an evaluation scores. */
const decadeLowest = -8

function pointsOf(scores: PairScores, decadeMin: number): OperatingPoint[] {
  const fars = Array.from(
    { length: 1 + 20 * -decadeMin },
    (_, step) => 10 ** (decadeMin + step / 20),
  )
  return operatingPoints(scores, fars)
}

/** The axis begins at a multiple of the tick distance, at or below the lowest point. */
function tarAxisOf(points: readonly OperatingPoint[]) {
  const lowest = points.reduce((least, { tar }) => Math.min(least, tar), 0.9)
  const step = lowest < 0.5 ? 0.2 : 0.1
  const intervals = Math.ceil((1 - lowest) / step - 1e-9)
  const from = Math.max(0, 1 - intervals * step)
  return { from, ticks: Array.from({ length: intervals + 1 }, (_, index) => from + index * step) }
}
