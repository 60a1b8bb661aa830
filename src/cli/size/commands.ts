import { defineCommand } from '../command-line/define-command.ts'
import { numberBetween, share, wholeNumber } from '../command-line/value-kinds.ts'
import { optional, withDefault } from '../options.ts'
import { measuredCosts } from './unit-costs.ts'

const { imageMs, searchMsPerMillion } = measuredCosts

/** The example prices per month are those of common cloud servers; they are no offer. */
export const size = defineCommand({
  name: 'size',
  summary: 'estimate the cores, memory, disk and cost of an installation',
  options: {
    faces: optional(
      '<n>',
      'number of faces; by default a table from 10⁴ to 10⁸',
      wholeNumber(1, 1e9),
    ),
    calls: optional(
      '<n>',
      'calls per second at the busiest time, each with one image and one search; by default a table from 1 to 10,000',
      wholeNumber(1, 1e6),
    ),
    'image-ms': withDefault('<ms>', 'processor time of one image', {
      ...numberBetween(0.1, 1e5),
      default: String(imageMs),
    }),
    'search-ms': withDefault('<ms>', 'processor time of one search among a million faces', {
      ...numberBetween(0.1, 1e5),
      default: String(searchMsPerMillion),
    }),
    'log-days': withDefault('<days>', 'days for which the request log is kept', {
      ...wholeNumber(0, 3650),
      default: '365',
    }),
    'mean-share': withDefault('<share>', 'mean rate of calls as a share of the busiest', {
      ...share,
      default: '0.1',
    }),
    'cores-per-server': withDefault('<n>', 'cores of one server', {
      ...wholeNumber(1, 1024),
      default: '16',
    }),
    'core-price': withDefault('<amount>', 'price of a core per month', {
      ...numberBetween(0, 1e6),
      default: '20',
    }),
    'memory-price': withDefault('<amount>', 'price of 1 GB of memory per month', {
      ...numberBetween(0, 1e6),
      default: '3',
    }),
    'disk-price': withDefault('<amount>', 'price of 1 GB of disk per month', {
      ...numberBetween(0, 1e6),
      default: '0.1',
    }),
  },
  description:
    'The unit costs were measured on two shared cores (docs/operations/sizing.md). Measure your machine with npm run bench, and pass its figures.',
  run: async (values) => (await import('./show-size.ts')).showSize(values),
})
