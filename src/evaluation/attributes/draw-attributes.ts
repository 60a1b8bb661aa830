import { writeFile } from 'node:fs/promises'
import sharp from 'sharp'
import type { AgeMetrics, AttributesReport, ConfusionMatrix } from './attributes-report.ts'

/**
 * Draws the errors of the age by age, and the tables of gender and expression as far as there are
 * labels, to `file`, an SVG or a PNG by its name.
 */
export async function drawAttributes(file: string, found: AttributesReport): Promise<void> {
  const svg = svgOf(found)
  if (/\.svg$/iu.test(file)) await writeFile(file, svg)
  else if (/\.png$/iu.test(file)) await sharp(Buffer.from(svg)).png().toFile(file)
  else throw new Error(`${file} is neither .svg nor .png`)
}

/** px */
const width = 720
const cell = 64
const headPx = 48
const barPx = 26

function svgOf({ age, gender, expression }: AttributesReport): string {
  const parts = [
    ...(age ? [drawAgeBars(age)] : []),
    ...(gender ? [drawConfusion('gender', gender)] : []),
    ...(expression ? [drawConfusion('expression', expression)] : []),
  ]
  let top = 0
  const placed = parts.map(({ svg, heightPx }) => {
    const group = `<g transform="translate(0 ${top})">${svg}</g>`
    top += heightPx
    return group
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${Math.max(1, top)}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${Math.max(1, top)}" fill="white"/>`,
    ...placed,
    '</svg>',
  ].join('\n')
}

type SvgPart = { readonly svg: string; readonly heightPx: number }

function drawAgeBars(figures: readonly AgeMetrics[]): SvgPart {
  const longest = Math.max(1, ...figures.map((one) => one.meanAbsoluteError))
  const rows = figures.map((one, index) => {
    const y = headPx + index * barPx
    const length = (one.meanAbsoluteError / longest) * 360
    return [
      `<text x="20" y="${y + 16}">${one.from}–${one.to}</text>`,
      `<rect x="90" y="${y + 3}" width="${length}" height="${barPx - 8}" fill="#0b6e4f"/>`,
      `<text x="${100 + length}" y="${y + 16}">${one.meanAbsoluteError.toFixed(1)}, bias ${one.bias.toFixed(1)}, ${one.pictures} pictures</text>`,
    ].join('')
  })
  const title = `<text x="20" y="28" font-size="15">Age: mean absolute error, years</text>`
  return { svg: `${title}${rows.join('')}`, heightPx: headPx + figures.length * barPx + 20 }
}

/** Rows: as labelled; columns: as told; darker is a larger share of the row. */
function drawConfusion(name: string, { labels, counts, accuracy }: ConfusionMatrix): SvgPart {
  const left = 110
  const top = headPx + 24
  const heads = labels.flatMap((label, index) => [
    `<text x="${left + index * cell + 4}" y="${top - 8}" font-size="11">${label}</text>`,
    `<text x="20" y="${top + index * cell + cell / 2}">${label}</text>`,
  ])
  const cells = counts.flatMap((row, y) => {
    const sum = Math.max(
      1,
      row.reduce((total, count) => total + count, 0),
    )
    return row.map((count, x) => {
      const share = count / sum
      const ink = share > 0.5 ? 'white' : 'black'
      return [
        `<rect x="${left + x * cell}" y="${top + y * cell}" width="${cell - 2}" height="${cell - 2}" fill="#0b6e4f" fill-opacity="${(0.06 + 0.94 * share).toFixed(3)}"/>`,
        `<text x="${left + x * cell + cell / 2}" y="${top + y * cell + cell / 2 + 4}" text-anchor="middle" fill="${ink}">${count}</text>`,
      ].join('')
    })
  })
  const title = `<text x="20" y="28" font-size="15">${name}: rows as labelled, columns as told; ${(100 * accuracy).toFixed(1)} % right</text>`
  return {
    svg: [title, ...heads, ...cells].join('\n'),
    heightPx: top + labels.length * cell + 24,
  }
}
