import { writeSvg } from '../write-svg.ts'
import type { AgeMetrics, AttributesReport, ConfusionMatrix } from './attributes-report.ts'

/**
 * Draws age errors by age group and the confusion matrices of gender and expression. Attributes
 * without labels are left out.
 *
 * @param file the image to write: `.svg` or `.png`.
 */
export async function drawAttributes(file: string, report: AttributesReport): Promise<void> {
  const { age, gender, expression } = report
  const parts = [
    ...(age ? [drawAgeBars(age)] : []),
    ...(gender ? [drawConfusion('gender', gender)] : []),
    ...(expression ? [drawConfusion('expression', expression)] : []),
  ]
  let top = 0
  const groups = parts.map(({ svg, heightPx }) => {
    const group = `<g transform="translate(0 ${top})">${svg}</g>`
    top += heightPx
    return group
  })
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${Math.max(1, top)}" font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${Math.max(1, top)}" fill="white"/>`,
    ...groups,
    '</svg>',
  ]
  await writeSvg(file, lines.join('\n'))
}

/** px */
const width = 720
const cellPx = 64
const headPx = 48
const barPx = 26

type SvgPart = { readonly svg: string; readonly heightPx: number }

function drawAgeBars(ageGroups: readonly AgeMetrics[]): SvgPart {
  const longest = Math.max(1, ...ageGroups.map(({ meanAbsoluteError }) => meanAbsoluteError))
  const rows = ageGroups.map(({ from, to, meanAbsoluteError, bias, pictures }, index) => {
    const y = headPx + index * barPx
    const length = (meanAbsoluteError / longest) * 360
    return [
      `<text x="20" y="${y + 16}">${from}–${to}</text>`,
      `<rect x="90" y="${y + 3}" width="${length}" height="${barPx - 8}" fill="#0b6e4f"/>`,
      `<text x="${100 + length}" y="${y + 16}">${meanAbsoluteError.toFixed(1)}, bias ${bias.toFixed(1)}, ${pictures} images</text>`,
    ].join('')
  })
  const title = `<text x="20" y="28" font-size="15">Age: mean absolute error, years</text>`
  return { svg: `${title}${rows.join('')}`, heightPx: headPx + ageGroups.length * barPx + 20 }
}

/** Rows are labels, columns are predictions. A darker cellPx is a larger share of its row. */
function drawConfusion(name: string, { labels, counts, accuracy }: ConfusionMatrix): SvgPart {
  const left = 110
  const top = headPx + 24
  const headings = labels.flatMap((label, index) => [
    `<text x="${left + index * cellPx + 4}" y="${top - 8}" font-size="11">${label}</text>`,
    `<text x="20" y="${top + index * cellPx + cellPx / 2}">${label}</text>`,
  ])
  const cells = counts.flatMap((row, y) => {
    const sum = Math.max(
      1,
      row.reduce((total, count) => total + count, 0),
    )
    return row.map((count, x) => {
      const share = count / sum
      const textColour = share > 0.5 ? 'white' : 'black'
      return [
        `<rect x="${left + x * cellPx}" y="${top + y * cellPx}" width="${cellPx - 2}" height="${cellPx - 2}" fill="#0b6e4f" fill-opacity="${(0.06 + 0.94 * share).toFixed(3)}"/>`,
        `<text x="${left + x * cellPx + cellPx / 2}" y="${top + y * cellPx + cellPx / 2 + 4}" text-anchor="middle" fill="${textColour}">${count}</text>`,
      ].join('')
    })
  })
  const title = `<text x="20" y="28" font-size="15">${name}: rows are labels, columns are predictions; accuracy ${(100 * accuracy).toFixed(1)} %</text>`
  return {
    svg: [title, ...headings, ...cells].join('\n'),
    heightPx: top + labels.length * cellPx + 24,
  }
}
