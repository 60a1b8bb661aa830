import { defineCommand } from '../command-line/define-command.ts'
import { numberBetween, share, wholeNumber } from '../command-line/value-kinds.ts'
import { optional, withDefault } from '../options.ts'
import { measuredCosts } from './unit-costs.ts'

const { imageMs, searchMsPerMillion } = measuredCosts

/** The example prices per month are those of common cloud servers; they are no offer. */
export const size = defineCommand({
  path: 'size',
  options: {
    faces: optional('<n>', wholeNumber(1, 1e9)),
    calls: optional('<n>', wholeNumber(1, 1e6)),
    'image-ms': withDefault('<ms>', {
      ...numberBetween(0.1, 1e5),
      default: String(imageMs),
    }),
    'search-ms': withDefault('<ms>', {
      ...numberBetween(0.1, 1e5),
      default: String(searchMsPerMillion),
    }),
    'log-days': withDefault('<days>', {
      ...wholeNumber(0, 3650),
      default: '365',
    }),
    'mean-share': withDefault('<share>', {
      ...share,
      default: '0.1',
    }),
    'cores-per-server': withDefault('<n>', {
      ...wholeNumber(1, 1024),
      default: '16',
    }),
    'core-price': withDefault('<amount>', {
      ...numberBetween(0, 1e6),
      default: '20',
    }),
    'memory-price': withDefault('<amount>', {
      ...numberBetween(0, 1e6),
      default: '3',
    }),
    'disk-price': withDefault('<amount>', {
      ...numberBetween(0, 1e6),
      default: '0.1',
    }),
  },
  run: async (values) => (await import('./show-size.ts')).showSize(values),
})
