import { drawAttributes } from '../../evaluation/attributes/draw-attributes.ts'
import {
  type AttributesReport,
  type ConfusionMatrix,
  createAttributesReport,
  predictAttributes,
  readAttributeLabels,
} from '../../evaluation/attributes/attributes-report.ts'
import { showProgress } from '../command.ts'
import { checkImageOutput } from './run-verification.ts'
import { openVision, type EvaluationValues } from './open-vision.ts'
import { percent, unusableLines } from './report-lines.ts'

/** Runs `facegate evaluate attributes`. @param values.out the image file of the tables. */
export async function runAttributes(values: EvaluationValues<'out'>): Promise<void> {
  const { folder, json, out, models } = values
  await checkImageOutput(out)
  const labels = await readAttributeLabels(folder)
  await using vision = await openVision(models)
  const { predictions, unusable } = await showProgress('images', (onProgress) =>
    predictAttributes(labels, vision.analyzeImage, onProgress),
  )
  const report = createAttributesReport(predictions, unusable)
  // Printed first: a file that cannot be written does not lose the report.
  console.log(json ? JSON.stringify(report) : toText(report))
  if (out !== undefined) await drawAttributes(out, report)
}

function toText({ pictures, unusable, age, gender, expression, genderErrors }: AttributesReport) {
  return [
    `images     ${pictures}`,
    ...unusableLines(unusable),
    ...(age ? ['', 'AGE, years'] : []),
    ...(age ?? []).map(
      (group) =>
        `  ${`${group.from} to ${group.to}`.padEnd(12)}mean absolute error ${group.meanAbsoluteError.toFixed(1).padStart(5)}   bias ${group.bias.toFixed(1).padStart(5)}   within the interval ${percent(group.withinInterval)}   ${group.pictures} images`,
    ),
    ...(gender ? table('GENDER', gender) : []),
    ...genderErrors.map((file) => `  differs from the label: ${file}`),
    ...(expression ? table('EXPRESSION', expression) : []),
  ].join('\n')
}

function table(name: string, confusion: ConfusionMatrix): string[] {
  const { labels, counts, pictures, accuracy, balancedAccuracy } = confusion
  const width = Math.max(...labels.map(({ length }) => length)) + 2
  return [
    '',
    `${name}, ${pictures} images: accuracy ${percent(accuracy)}, mean over labels ${percent(balancedAccuracy)}`,
    `  ${'label, result'.padEnd(16)}${labels.map((label) => label.padStart(width)).join('')}`,
    ...counts.map(
      (row, index) =>
        `  ${(labels[index] ?? '').padEnd(16)}${row.map((count) => String(count).padStart(width)).join('')}`,
    ),
  ]
}
