import { writeFile } from 'node:fs/promises'
import sharp from 'sharp'
import { operatingPoints } from './roc.ts'
import type { Scores } from './scores.ts'

/** One line of the picture. */
export type Curve = { readonly name: string; readonly scores: Scores; readonly colour: string }

/**
 * Draws how many pairs of one person match (up) against how many pairs of strangers do (right, a
 * logarithmic scale) to `file`, an SVG or a PNG by its name.
 */
export async function drawCurves(file: string, curves: readonly Curve[]): Promise<void> {
  const svg = svgOf(curves)
  if (/\.svg$/iu.test(file)) await writeFile(file, svg)
  else if (/\.png$/iu.test(file)) await sharp(Buffer.from(svg)).png().toFile(file)
  else throw new Error(`${file} is neither .svg nor .png`)
}

/** px; the plot lies inside the margins. */
const size = { width: 720, height: 480, left: 64, right: 24, top: 40, bottom: 56 }
const decadeMin = -6
const tarMin = 0.5

function svgOf(curves: readonly Curve[]): string {
  const { width, height, top, left } = size
  const lines = curves.map(
    (curve) =>
      `<polyline fill="none" stroke="${curve.colour}" stroke-width="2" points="${pointsOf(curve)}"/>`,
  )
  const names = curves.map(
    ({ name, colour }, index) =>
      `<text x="${width - 180}" y="${height - 80 - 20 * index}" fill="${colour}">${name}</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${left}" y="${top - 16}" font-size="15">True against false acceptance, all pairs</text>`,
    ...gridLines(),
    ...lines,
    ...names,
    `<text x="${width / 2}" y="${height - 12}" text-anchor="middle">false acceptance rate</text>`,
    '</svg>',
  ].join('\n')
}

function pointsOf({ scores }: Curve): string {
  const steps = Array.from(
    { length: 1 + 20 * -decadeMin },
    (_, step) => 10 ** (decadeMin + step / 20),
  )
  return operatingPoints(scores, steps)
    .map(({ far, tar }) => `${across(far).toFixed(1)},${up(tar).toFixed(1)}`)
    .join(' ')
}

function gridLines(): string[] {
  const { left, right, top, bottom, width, height } = size
  const decades = Array.from({ length: 1 - decadeMin }, (_, index) => decadeMin + index)
  const tars = [0.5, 0.6, 0.7, 0.8, 0.9, 1]
  const stroke = 'stroke="#dddddd"'
  return [
    ...decades.flatMap((decade) => {
      const x = across(10 ** decade).toFixed(1)
      return [
        `<line x1="${x}" x2="${x}" y1="${top}" y2="${height - bottom}" ${stroke}/>`,
        `<text x="${x}" y="${height - bottom + 20}" text-anchor="middle">${10 ** decade}</text>`,
      ]
    }),
    ...tars.flatMap((tar) => {
      const y = up(tar).toFixed(1)
      return [
        `<line x1="${left}" x2="${width - right}" y1="${y}" y2="${y}" ${stroke}/>`,
        `<text x="${left - 8}" y="${Number(y) + 4}" text-anchor="end">${tar * 100} %</text>`,
      ]
    }),
  ]
}

function across(far: number): number {
  const share = 1 - Math.log10(far) / decadeMin
  return size.left + share * (size.width - size.left - size.right)
}

function up(tar: number): number {
  const share = (Math.max(tar, tarMin) - tarMin) / (1 - tarMin)
  return size.height - size.bottom - share * (size.height - size.top - size.bottom)
}
