import { UsageError, type ValueKind } from '../command.ts'
import { defineCommand } from '../command-line/define-command.ts'
import { filePath, outputFile, pictureOutput } from '../command-line/value-kinds.ts'
import { flag, optional, requiredProject } from '../options.ts'

/** A false-match rate of the calibration tables. */
const measurableRate: ValueKind<number> = {
  rule: 'one of 1e-3, 1e-4, 1e-5 and 1e-6',
  parse: async (text) => {
    const { calibratedFmrs } = await import('../../gallery/calibration/similarity.ts')
    return calibratedFmrs.find((fmr) => fmr <= 1e-3 && fmr === Number(text))
  },
}

export const calibrate = defineCommand('calibrate', {
  options: {
    project: requiredProject,
    exclude: optional('<pairs.csv>', filePath),
    suspects: optional('<pairs.csv>', outputFile),
    'down-to': optional('<rate>', measurableRate),
    out: optional('<file>', pictureOutput('.svg', '.png')),
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
