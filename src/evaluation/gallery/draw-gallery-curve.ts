import {
  calibratedFmrs,
  scoreAt,
  similarityAtFmr,
  type Calibration,
} from '../../gallery/calibration/similarity.ts'
import { drawPlot } from '../draw-plot.ts'
import { scoreAtFar } from '../verification/operating-points.ts'

export type GalleryCurve = {
  readonly scores: Float32Array
  readonly calibration: Calibration
  /** The table of the model. */
  readonly shipped: Calibration
}

/** Draws the false-match rate (y axis, logarithmic) by score: counted, in the new and in the model's table. */
export async function drawGalleryCurve(file: string, curve: GalleryCurve): Promise<void> {
  const { scores, calibration, shipped } = curve
  const tables = [calibration, shipped].map(pointsOf)
  const counted = countedPoints(scores)
  const all = [...tables.flat(), ...counted].map(({ score }) => score)
  const [from, to] = [Math.floor(Math.min(...all) * 2) / 2, Math.ceil(Math.max(...all) * 2) / 2]
  const toPoint = ({ score, fmr }: RatePoint) => ({
    x: (score - from) / (to - from),
    y: fmrToY(fmr),
  })
  const ticks = Array.from(
    { length: Math.round((to - from) * 2) + 1 },
    (_, index) => from + index / 2,
  )
  await drawPlot(file, {
    title: 'False-match rate by score',
    xAxis: {
      label: 'score',
      ticks: ticks.map((score) => ({
        position: (score - from) / (to - from),
        text: String(score),
      })),
    },
    yAxis: {
      label: 'false-match rate',
      ticks: [1, ...calibratedFmrs].map((fmr) => ({
        position: fmrToY(fmr),
        text: fmr.toExponential(0),
      })),
    },
    curves: [
      { name: 'gallery, counted', colour: '#0b6e4f', points: counted.map(toPoint) },
      { name: 'gallery table', colour: '#1f4e9c', points: (tables[0] ?? []).map(toPoint) },
      { name: 'model table', colour: '#b0413e', points: (tables[1] ?? []).map(toPoint) },
    ],
    legendPosition: { x: 0.05, y: 0.07 },
  })
}

type RatePoint = { readonly score: number; readonly fmr: number }

function pointsOf(table: Calibration): RatePoint[] {
  return calibratedFmrs.map((fmr) => ({ fmr, score: scoreAt(similarityAtFmr(fmr), table) }))
}

/** Twenty points per power of ten, to the rate of ten pairs. */
function countedPoints(scores: Float32Array): RatePoint[] {
  const decades = Math.log10(scores.length / 10)
  const fmrs = Array.from(
    { length: Math.floor(decades * 20) },
    (_, step) => 10 ** (-(step + 1) / 20),
  )
  return fmrs.map((fmr) => ({ fmr, score: scoreAtFar(scores, fmr) }))
}

function fmrToY(fmr: number): number {
  return 1 + Math.log10(fmr) / 6
}
