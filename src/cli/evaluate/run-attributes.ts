import { drawAttributes } from '../../evaluation/attributes/draw-attributes.ts'
import { predictAttributes } from '../../evaluation/attributes/predict-attributes.ts'
import { createAttributesReport } from '../../evaluation/attributes/attributes-report.ts'
import type {
  AttributesReport,
  ConfusionMatrix,
} from '../../evaluation/attributes/attributes-report.ts'
import { createProgressBar } from '../progress-bar.ts'
import { openVision } from './open-vision.ts'

export type AttributesCommandOptions = {
  readonly json: boolean
  /** Where to draw the tables. */
  readonly out: string | undefined
  /** `--models`. */
  readonly models: readonly string[]
}

/** `facegate evaluate attributes`. */
export async function runAttributes(
  folder: string,
  { json, out, models }: AttributesCommandOptions,
): Promise<void> {
  await using vision = await openVision(models)
  const bar = createProgressBar('pictures')
  const { told, unusable } = await predictAttributes(folder, vision.analyzeImage, bar.update)
  bar.end()
  const found = createAttributesReport(told, unusable)
  if (out !== undefined) await drawAttributes(out, found)
  console.log(json ? JSON.stringify(found) : text(found))
}

function text({ pictures, unusable, age, gender, expression, genderErrors }: AttributesReport) {
  return [
    `pictures   ${pictures}`,
    ...unusable.map(({ file, reason }) => `unusable   ${file}: ${reason}`),
    ...(age ? ['', 'AGE, years'] : []),
    ...(age ?? []).map(
      (one) =>
        `  ${`${one.from} to ${one.to}`.padEnd(12)}mean absolute error ${one.meanAbsoluteError.toFixed(1).padStart(5)}   bias ${one.bias.toFixed(1).padStart(5)}   within the interval ${percent(one.withinInterval)}   ${one.pictures} pictures`,
    ),
    ...(gender ? table('GENDER', gender) : []),
    ...genderErrors.map((file) => `  otherwise than labelled: ${file}`),
    ...(expression ? table('EXPRESSION', expression) : []),
  ].join('\n')
}

function table(name: string, confusion: ConfusionMatrix): string[] {
  const { labels, counts, pictures, accuracy, balancedAccuracy } = confusion
  const wide = Math.max(...labels.map(({ length }) => length)) + 2
  return [
    '',
    `${name}, ${pictures} pictures: ${percent(accuracy)} right, ${percent(balancedAccuracy)} as the mean over labels`,
    `  ${'labelled, told'.padEnd(16)}${labels.map((label) => label.padStart(wide)).join('')}`,
    ...counts.map(
      (row, at) =>
        `  ${(labels[at] ?? '').padEnd(16)}${row.map((count) => String(count).padStart(wide)).join('')}`,
    ),
  ]
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`
}
