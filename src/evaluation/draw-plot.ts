import { writeFile } from 'node:fs/promises'
import sharp from 'sharp'

/** A picture of curves. Places are shares of the plot, from the left and from the bottom. */
export type Plot = {
  readonly title: string
  readonly xAxis: Axis
  readonly yAxis: Axis
  readonly curves: readonly PlottedCurve[]
  /** Where the names of the curves stand; the right lower corner where nothing else is said. */
  readonly legendAt?: { readonly x: number; readonly y: number }
}

type Axis = { readonly label?: string; readonly ticks: readonly Tick[] }
type Tick = { readonly at: number; readonly text: string }

/** One line of the picture; what lies outside the plot is cut off. */
type PlottedCurve = {
  readonly name: string
  readonly colour: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

/** Draws to `file`, an SVG or a PNG by its name. @throws Error when it is neither. */
export async function drawPlot(file: string, plot: Plot): Promise<void> {
  const svg = svgOf(plot)
  if (/\.svg$/iu.test(file)) await writeFile(file, svg)
  else if (/\.png$/iu.test(file)) await sharp(Buffer.from(svg)).png().toFile(file)
  else throw new Error(`${file} is neither .svg nor .png`)
}

/** px; the plot lies inside the margins. */
const plotSize = { width: 720, height: 480, left: 64, right: 24, top: 40, bottom: 56 }

function svgOf({
  title,
  xAxis: across,
  yAxis: up,
  curves,
  legendAt: namesAt = { x: 0.75, y: 0.07 },
}: Plot): string {
  const { width, height, top, left } = plotSize
  const lines = curves.map(({ points, colour }) => {
    const places = points.map(({ x, y }) => `${toX(x)},${toY(y)}`).join(' ')
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${places}"/>`
  })
  const names = curves.map(
    ({ name, colour }, index) =>
      `<text x="${toX(namesAt.x)}" y="${Number(toY(namesAt.y)) - 20 * index}" fill="${colour}">${name}</text>`,
  )
  const labels = [
    `<text x="${left}" y="${top - 16}" font-size="15">${title}</text>`,
    `<text x="${width / 2}" y="${height - 12}" text-anchor="middle">${across.label ?? ''}</text>`,
    `<text x="14" y="${height / 2}" text-anchor="middle" transform="rotate(-90 14 ${height / 2})">${up.label ?? ''}</text>`,
  ]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...drawGrid(across.ticks, up.ticks),
    ...labels,
    ...lines,
    ...names,
    '</svg>',
  ].join('\n')
}

function drawGrid(across: readonly Tick[], up: readonly Tick[]): string[] {
  const { left, right, top, bottom, width, height } = plotSize
  const stroke = 'stroke="#dddddd"'
  return [
    ...across.flatMap(({ at, text }) => [
      `<line x1="${toX(at)}" x2="${toX(at)}" y1="${top}" y2="${height - bottom}" ${stroke}/>`,
      `<text x="${toX(at)}" y="${height - bottom + 20}" text-anchor="middle">${text}</text>`,
    ]),
    ...up.flatMap(({ at, text }) => [
      `<line x1="${left}" x2="${width - right}" y1="${toY(at)}" y2="${toY(at)}" ${stroke}/>`,
      `<text x="${left - 8}" y="${Number(toY(at)) + 4}" text-anchor="end">${text}</text>`,
    ]),
  ]
}

function toX(share: number): string {
  return (
    plotSize.left +
    clampShare(share) * (plotSize.width - plotSize.left - plotSize.right)
  ).toFixed(1)
}

function toY(share: number): string {
  return (
    plotSize.height -
    plotSize.bottom -
    clampShare(share) * (plotSize.height - plotSize.top - plotSize.bottom)
  ).toFixed(1)
}

function clampShare(share: number): number {
  return Math.min(1, Math.max(0, share))
}
