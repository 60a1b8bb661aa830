import { formatTable, print } from '../command.ts'
import { estimateSize, type SizeEstimate } from './estimate.ts'
import { measuredCosts } from './unit-costs.ts'

type SizeOptions = {
  readonly faces: number | undefined
  readonly calls: number | undefined
  readonly 'image-ms': number
  readonly 'search-ms': number
  readonly 'log-days': number
  readonly 'mean-share': number
  readonly 'cores-per-server': number
  readonly 'core-price': number
  readonly 'memory-price': number
  readonly 'disk-price': number
  readonly json: boolean
}

const facesOfTable = [1e4, 1e5, 1e6, 1e7, 1e8]
const callsOfTable = [1, 10, 100, 1000, 10_000]

export function showSize(options: SizeOptions): void {
  const faces = options.faces === undefined ? facesOfTable : [options.faces]
  const calls = options.calls === undefined ? callsOfTable : [options.calls]
  const estimates = faces.flatMap((count) => calls.map((rate) => estimate(count, rate, options)))
  print(estimates, options.json, () => formatTable(head, estimates.map(toRow)))
}

function estimate(faces: number, callsPerS: number, options: SizeOptions): SizeEstimate {
  const workload = {
    faces,
    callsPerS,
    logDays: options['log-days'],
    meanShare: options['mean-share'],
    coresPerServer: options['cores-per-server'],
  }
  const costs = {
    ...measuredCosts,
    imageMs: options['image-ms'],
    searchMsPerMillion: options['search-ms'],
  }
  const prices = {
    core: options['core-price'],
    memoryGb: options['memory-price'],
    diskGb: options['disk-price'],
  }
  return estimateSize(workload, costs, prices)
}

const head = [
  'faces',
  'calls/s',
  'database',
  'installations',
  'servers',
  'cores',
  'GB memory each',
  'GB disk',
  'search ms',
  'per month',
]

function toRow(row: SizeEstimate): string[] {
  return [
    row.faces.toLocaleString('en-US'),
    row.callsPerS.toLocaleString('en-US'),
    row.database,
    String(row.installations),
    String(row.servers),
    String(row.cores),
    row.memoryGbPerServer.toFixed(1),
    row.diskGb.toFixed(row.diskGb < 10 ? 1 : 0),
    row.searchMs.toFixed(1),
    Math.ceil(row.costPerMonth).toLocaleString('en-US'),
  ]
}
