import { printRows } from '../command.ts'
import { defineCommand } from '../command-line/define-command.ts'
import { numberBetween, share, wholeNumber } from '../command-line/value-kinds.ts'
import { optional, withDefault } from '../options.ts'
import { measuredCosts } from './unit-costs.ts'

const { imageMs, searchMsPerMillion } = measuredCosts
const facesOfTable = [1e4, 1e5, 1e6, 1e7, 1e8]
const callsOfTable = [1, 10, 100, 1000, 10_000]

/** The example prices per month are those of common cloud servers; they are no offer. */
export const size = defineCommand('size', {
  options: {
    faces: optional('<n>', wholeNumber(1, 1e9)),
    calls: optional('<n>', wholeNumber(1, 1e6)),
    'image-ms': withDefault('<ms>', numberBetween(0.1, 1e5), String(imageMs)),
    'search-ms': withDefault('<ms>', numberBetween(0.1, 1e5), String(searchMsPerMillion)),
    'log-days': withDefault('<days>', wholeNumber(0, 3650), '365'),
    'mean-share': withDefault('<share>', share, '0.1'),
    'cores-per-server': withDefault('<n>', wholeNumber(1, 1024), '16'),
    'core-price': withDefault('<amount>', numberBetween(0, 1e6), '20'),
    'memory-price': withDefault('<amount>', numberBetween(0, 1e6), '3'),
    'disk-price': withDefault('<amount>', numberBetween(0, 1e6), '0.1'),
  },
  run: async ({ faces, calls, json, ...values }) => {
    const { estimateSize } = await import('./estimate.ts')
    const workload = {
      logDays: values['log-days'],
      meanShare: values['mean-share'],
      coresPerServer: values['cores-per-server'],
    }
    const costs = {
      ...measuredCosts,
      imageMs: values['image-ms'],
      searchMsPerMillion: values['search-ms'],
    }
    const prices = {
      core: values['core-price'],
      memoryGb: values['memory-price'],
      diskGb: values['disk-price'],
    }
    const estimate = (count: number, callsPerS: number) =>
      estimateSize({ ...workload, faces: count, callsPerS }, costs, prices)
    const rates = calls === undefined ? callsOfTable : [calls]
    const counts = faces === undefined ? facesOfTable : [faces]
    const estimates = counts.flatMap((count) => rates.map((rate) => estimate(count, rate)))
    printRows(estimates, json, {
      faces: (row) => row.faces.toLocaleString('en-US'),
      'calls/s': ({ callsPerS }) => callsPerS.toLocaleString('en-US'),
      database: 'database',
      installations: 'installations',
      servers: 'servers',
      cores: 'cores',
      'GB memory each': ({ memoryGbPerServer }) => memoryGbPerServer.toFixed(1),
      'GB disk': ({ diskGb }) => diskGb.toFixed(diskGb < 10 ? 1 : 0),
      'search ms': ({ searchMs }) => searchMs.toFixed(1),
      'per month': ({ costPerMonth }) => Math.ceil(costPerMonth).toLocaleString('en-US'),
    })
  },
})
