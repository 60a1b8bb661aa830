import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, filePath, folderPath } from '../command-line/value-kinds.ts'
import { optional, repeatable, required } from '../options.ts'

const models = repeatable(
  '<pack>',
  anyText,
  'other models than those of the service: builtin, the folder of a pack, the name of an installed pack, or pack/model; builtin+ before one of these uses both recognizers; repeat the option for another role',
)
const folder = required('<folder>', folderPath, 'folder of labelled images')

export const evaluate = defineGroup('evaluate', [
  defineCommand('evaluate detection', {
    arguments: { folder },
    options: { models },
    run: async (values) => (await import('./run-detection.ts')).runDetection(values),
  }),
  defineCommand('evaluate verification', {
    arguments: { source: required('<folder|pairs.csv>', filePath) },
    options: {
      out: optional('<file>', filePath),
      calibrate: optional('<file|folder>', filePath),
      models,
    },
    run: async (values) =>
      void (await (await import('./run-verification.ts')).runVerification(values)),
  }),
  defineCommand('evaluate liveness', {
    arguments: { folder },
    options: {
      out: optional('<file>', filePath),
      models,
    },
    run: async (values) => (await import('./run-liveness.ts')).runLiveness(values),
  }),
  defineCommand('evaluate attributes', {
    arguments: { folder },
    options: { out: optional('<file>', filePath), models },
    run: async (values) => (await import('./run-attributes.ts')).runAttributes(values),
  }),
])
