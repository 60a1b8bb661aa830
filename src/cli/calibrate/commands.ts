import path from 'node:path'
import { UsageError, type ValueKind } from '../command.ts'
import { defineCommand } from '../command-line/define-command.ts'
import { filePath, outputFile } from '../command-line/value-kinds.ts'
import { flag, optional, requiredProject } from '../options.ts'

/** A false-match rate of the calibration tables. */
const measurableRate: ValueKind<number> = {
  rule: 'one of 1e-3, 1e-4, 1e-5 and 1e-6',
  parse: async (text) => {
    const { calibratedFmrs } = await import('../../gallery/calibration/similarity.ts')
    return calibratedFmrs.find((fmr) => fmr <= 1e-3 && fmr === Number(text))
  },
}

const imageFile: ValueKind<string> = {
  ...outputFile,
  parse: (text) => {
    if (['.svg', '.png'].includes(path.extname(text).toLowerCase())) return outputFile.parse(text)
    throw new UsageError(`the name ${text} must end in .svg or .png`)
  },
}

export const calibrate = defineCommand({
  name: 'calibrate',
  summary: 'measure false-match rates on the subjects of a gallery',
  options: {
    project: requiredProject,
    exclude: optional(
      '<pairs.csv>',
      'the file of --suspects; its confirmed pairs are left out',
      filePath,
    ),
    suspects: optional(
      '<pairs.csv>',
      'write the pairs of subjects that are probably one person; write yes in the column samePerson of each pair that you have checked',
      outputFile,
    ),
    'down-to': optional(
      '<rate>',
      'the lowest rate of the table; by default the lowest that the number of subjects supports',
      measurableRate,
    ),
    out: optional('<file>', 'draw the curve (.svg or .png)', imageFile),
    apply: flag(
      'similarities and thresholds of this gallery use the measured rates from now on; running servers use them within two seconds',
    ),
    revert: flag('the gallery uses the table of the model again'),
    show: flag('print the tables of the gallery, in use or not'),
  },
  description:
    'The subjects of a gallery are different people. The command compares each of them with each other and measures how often different people reach a score in this gallery. It needs at least 200 subjects and works while the server runs. --apply, --revert and --show cannot be combined.',
  run: async (values) => {
    if ([values.revert, values.show, values.apply].filter(Boolean).length > 1)
      throw new UsageError('--apply, --revert and --show cannot be combined')
    await (await import('./calibrate.ts')).calibrate(values)
  },
})
