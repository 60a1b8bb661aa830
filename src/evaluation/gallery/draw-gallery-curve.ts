import {
  calibratedFmrs,
  scoreAt,
  similarityAtFmr,
  type Calibration,
} from '../../gallery/calibration/similarity.ts'
import { countedRates, type RatePoint } from '../../gallery/calibration/measure/sorted-scores.ts'
import { drawPlot } from '../draw-plot.ts'

export type GalleryCurve = {
  readonly scores: Float32Array
  readonly calibration: Calibration
  /** The table of the model. */
  readonly shipped: Calibration
}

/** Draws the false-match rate (y axis, logarithmic) by score: counted, in the new and in the model's table. */
export async function drawGalleryCurve(file: string, curve: GalleryCurve): Promise<void> {
  const { scores, calibration, shipped } = curve
  const tables = [calibration, shipped].map((table) =>
    calibratedFmrs.map((fmr) => ({ fmr, score: scoreAt(similarityAtFmr(fmr), table) })),
  )
  const counted = countedRates(scores)
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

function fmrToY(fmr: number): number {
  return 1 + Math.log10(fmr) / 6
}
