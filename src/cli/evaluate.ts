import { parseArgs } from 'node:util'
import { evaluateDetection, type DetectionReport } from '../../eval/detection.ts'
import { UsageError, type Command } from './command.ts'
import { progressBar } from './progress.ts'
import { openVision } from './vision.ts'

export const evaluate: Command = {
  name: 'evaluate',
  summary: 'measure accuracy on your own labelled pictures',
  usage: `facegate evaluate detection <folder> [--json]

  <folder>/labels.csv has the columns file, face_count and, optionally, boxes
  (left top width height in pixels, for each face). Prints recall, false positives
  and counts; a box is found at IoU >= 0.3.`,
  run: async (args) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false } },
    })
    const [what, folder, ...rest] = positionals
    if (what !== 'detection') throw new UsageError(`cannot evaluate ${what ?? 'nothing'}`)
    if (folder === undefined || rest.length > 0) throw new UsageError('name one folder')
    await using vision = await openVision()
    const bar = progressBar('pictures')
    const report = await evaluateDetection(folder, vision.look, bar.update)
    bar.end()
    console.log(values.json ? JSON.stringify(report) : text(report))
  },
}

function text(report: DetectionReport): string {
  const width = Math.max(...report.rows.map((row) => row.file.length))
  const rows = report.rows.map((row) => {
    const boxes = row.boxes > 0 ? `, boxes ${row.boxesFound} of ${row.boxes}` : ''
    return `${row.file.padEnd(width)}  labelled ${row.labelled}, found ${row.found}${boxes}`
  })
  const { pictures, boxRecall } = report
  return [
    ...rows,
    '',
    `pictures                     ${pictures}`,
    `box recall at IoU >= 0.3     ${boxRecall === null ? 'no boxes labelled' : boxRecall.toFixed(4)}`,
    `false positives per picture  ${report.falsePositivesPerImage.toFixed(3)}`,
    `exact counts                 ${report.exactCounts} of ${pictures}`,
    `counts within 1              ${report.countsWithinOne} of ${pictures}`,
    `mean absolute count error    ${report.countMeanAbsoluteError.toFixed(3)}`,
  ].join('\n')
}
