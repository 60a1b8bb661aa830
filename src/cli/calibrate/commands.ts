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

export const calibrate = defineCommand('calibrate', {
  options: {
    project: requiredProject,
    exclude: optional('<pairs.csv>', filePath),
    suspects: optional('<pairs.csv>', outputFile),
    'down-to': optional('<rate>', measurableRate),
    out: optional('<file>', imageFile),
    apply: flag(),
    revert: flag(),
    show: flag(),
  },
  run: async (values) => {
    if ([values.revert, values.show, values.apply].filter(Boolean).length > 1)
      throw new UsageError('--apply, --revert and --show cannot be combined')
    await (await import('./run-calibration.ts')).calibrate(values)
  },
})
