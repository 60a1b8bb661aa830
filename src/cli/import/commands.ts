import type { FacePolicy } from '../../actions/schemas/fields.ts'
import { defineCommand } from '../command-line/define-command.ts'
import { filePath, oneOf, outputFile, textList, wholeNumber } from '../command-line/value-kinds.ts'
import { serviceOptions } from '../context/commands.ts'
import { optional, required, withDefault } from '../options.ts'
import { concurrencyDefault, journalDefault } from './import-options.ts'

const facePolicies = ['single', 'largest', 'strict'] as const satisfies readonly FacePolicy[]

const concurrencyMax = 32
const rateMax = 10_000

export const importFaces = defineCommand('import', {
  arguments: { source: required('<folder|list.csv>', filePath) },
  options: {
    ...serviceOptions,
    groups: optional('<a,b>', textList),
    'face-policy': optional('<policy>', oneOf(facePolicies)),
    rate: optional('<n>', wholeNumber(1, rateMax)),
    concurrency: withDefault('<n>', wholeNumber(1, concurrencyMax), String(concurrencyDefault)),
    journal: withDefault('<file>', outputFile, journalDefault),
  },
  run: async (values) => (await import('./import-faces.ts')).importFaces(values),
})
