import { escapeXml } from '../lib/escaping/escape-xml.ts'
import { writeSvg } from './write-svg.ts'

/** A chart of curves. Positions are shares of the plot area, from the left and from the bottom. */
export type Plot = {
  readonly title: string
  readonly xAxis: Axis
  readonly yAxis: Axis
  readonly curves: readonly PlottedCurve[]
  /** Position of the legend; the bottom right corner by default. */
  readonly legendPosition?: { readonly x: number; readonly y: number }
}

type Axis = { readonly label: string; readonly ticks: readonly Tick[] }
type Tick = { readonly position: number; readonly text: string }

/** One curve. Its points are within 0..1. */
type PlottedCurve = {
  readonly name: string
  readonly colour: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

/** Draws the plot to `file`. @throws Error when its extension is neither `.svg` nor `.png`. */
export async function drawPlot(file: string, plot: Plot): Promise<void> {
  await writeSvg(file, svgOf(plot))
}

/** Size and margins in px. The plot area lies inside the margins. */
const plotSize = { width: 720, height: 480, left: 84, right: 24, top: 40, bottom: 56 }

function svgOf({ title, xAxis, yAxis, curves, legendPosition = { x: 0.75, y: 0.07 } }: Plot) {
  const { width, height, top, bottom, left, right } = plotSize
  const yCentre = (top + height - bottom) / 2
  const lines = curves.map(({ points, colour }) => {
    const coordinates = points.map(({ x, y }) => `${toX(x)},${toY(y)}`).join(' ')
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${coordinates}"/>`
  })
  const legend = curves.map(
    ({ name, colour }, index) =>
      `<text x="${toX(legendPosition.x)}" y="${Number(toY(legendPosition.y)) - 20 * index}" fill="${colour}">${escapeXml(name)}</text>`,
  )
  const labels = [
    `<text x="${left}" y="${top - 16}" font-size="15">${escapeXml(title)}</text>`,
    `<text x="${(left + width - right) / 2}" y="${height - 12}" text-anchor="middle">${escapeXml(xAxis.label)}</text>`,
    `<text x="20" y="${yCentre}" text-anchor="middle" transform="rotate(-90 20 ${yCentre})">${escapeXml(yAxis.label)}</text>`,
  ]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...drawGrid(xAxis.ticks, yAxis.ticks),
    ...labels,
    ...lines,
    ...legend,
    '</svg>',
  ].join('\n')
}

function drawGrid(xTicks: readonly Tick[], yTicks: readonly Tick[]): string[] {
  const { left, right, top, bottom, width, height } = plotSize
  const stroke = 'stroke="#dddddd"'
  return [
    ...xTicks.flatMap(({ position, text }) => [
      `<line x1="${toX(position)}" x2="${toX(position)}" y1="${top}" y2="${height - bottom}" ${stroke}/>`,
      `<text x="${toX(position)}" y="${height - bottom + 20}" text-anchor="middle">${text}</text>`,
    ]),
    ...yTicks.flatMap(({ position, text }) => [
      `<line x1="${left}" x2="${width - right}" y1="${toY(position)}" y2="${toY(position)}" ${stroke}/>`,
      `<text x="${left - 8}" y="${Number(toY(position)) + 4}" text-anchor="end">${text}</text>`,
    ]),
  ]
}

function toX(share: number): string {
  return (plotSize.left + share * (plotSize.width - plotSize.left - plotSize.right)).toFixed(1)
}

function toY(share: number): string {
  return (
    plotSize.height -
    plotSize.bottom -
    share * (plotSize.height - plotSize.top - plotSize.bottom)
  ).toFixed(1)
}
