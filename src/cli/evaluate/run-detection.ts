import {
  evaluateDetection,
  readDetectionLabels,
  type DetectionReport,
} from '../../evaluation/detection/evaluate-detection.ts'
import { showProgress } from '../command.ts'
import { openVision, type EvaluationValues } from './open-vision.ts'
import { unusableLines } from './report-lines.ts'

/** Runs `facegate evaluate detection`. */
export async function runDetection({ folder, json, models }: EvaluationValues): Promise<void> {
  const labels = await readDetectionLabels(folder)
  await using vision = await openVision(models)
  const report = await showProgress('images', (onProgress) =>
    evaluateDetection(labels, (image) => vision.analyzeImage(image), onProgress),
  )
  console.log(json ? JSON.stringify(report) : toText(report))
}

function toText(report: DetectionReport): string {
  const width = report.rows.reduce((widest, { file }) => Math.max(widest, file.length), 0)
  const rows = report.rows.map((row) => {
    const boxes = row.boxes > 0 ? `, boxes ${row.boxesFound} of ${row.boxes}` : ''
    return `${row.file.padEnd(width)}  labelled ${row.labelled}, found ${row.found}${boxes}`
  })
  const { pictures, boxRecall } = report
  return [
    ...rows,
    '',
    ...unusableLines(report.unusable),
    `images                     ${pictures}`,
    `box recall at IoU >= 0.3   ${boxRecall === null ? 'no boxes labelled' : boxRecall.toFixed(4)}`,
    `false positives per image  ${report.falsePositivesPerImage.toFixed(3)}`,
    `exact counts               ${report.exactCounts} of ${pictures}`,
    `counts within 1            ${report.countsWithinOne} of ${pictures}`,
    `mean absolute count error  ${report.countMeanAbsoluteError.toFixed(3)}`,
  ].join('\n')
}
