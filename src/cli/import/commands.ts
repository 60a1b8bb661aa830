import type { FacePolicy } from '../../actions/schemas/fields.ts'
import { defineCommand } from '../command-line/define-command.ts'
import { filePath, oneOf, outputFile, textList, wholeNumber } from '../command-line/value-kinds.ts'
import { serviceOptions } from '../context/commands.ts'
import { optional, required, withDefault } from '../options.ts'
import { concurrencyDefault, journalDefault } from './import-options.ts'

const facePolicies = ['single', 'largest', 'strict'] as const satisfies readonly FacePolicy[]

const concurrencyMax = 32
const rateMax = 10_000

export const importFaces = defineCommand({
  name: 'import',
  summary: 'enroll a folder or a list of images through the API',
  arguments: {
    source: required('<folder|list.csv>', 'the images: see below', filePath),
  },
  options: {
    ...serviceOptions,
    groups: optional('<a,b>', 'groups of every subject, beside those of the list', textList),
    'face-policy': optional(
      '<policy>',
      'the images to accept: single refuses an image with another large face, strict one with any other face, largest uses the largest face; without it, single',
      oneOf(facePolicies),
    ),
    rate: optional(
      '<n>',
      'images per second; without it, the rate limit of the project',
      wholeNumber(1, rateMax),
    ),
    concurrency: withDefault('<n>', 'images that are sent at the same time', {
      ...wholeNumber(1, concurrencyMax),
      default: String(concurrencyDefault),
    }),
    journal: withDefault('<file>', 'file that records enrolled and refused images', {
      ...outputFile,
      default: journalDefault,
    }),
  },
  description: [
    '<folder> contains one folder per person, named by the externalId; or images, one per person, named by the externalId. <list.csv> has the columns file and externalId (or subject, as in lists of CompreFace), and optionally displayName and groups (separated by spaces). Its files are relative to the list.',
    'Run the same command again after an interruption: only the images that are not enrolled yet are sent. Ctrl-C waits for the images that are being enrolled. An error that every further image would have, such as an empty budget, ends the import at once. The exit code is 0 only if every image is enrolled, and 130 after Ctrl-C.',
  ].join('\n'),
  run: async (values) => (await import('./import-faces.ts')).importFaces(values),
})
