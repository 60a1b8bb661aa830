import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgresCluster } from '../test/support/database/postgres-server.ts'
import { clientCount } from './nodes/cluster-bench.ts'
import { loadCheckout, measureCalls, type CallCosts, type Checkout } from './nodes/checkout.ts'
import { gateSettings } from './nodes/gated-calls-table.ts'
import { markdownTable, median, showProgress } from './support/table.ts'

/**
 * `npm run bench calls -- [--before DIR] [--seconds 5] [--rounds 5] [--projects 1,32]`: gated calls per
 * second of one server and the CPU time of each call, on SQLite and on PostgreSQL, with 32 clients on
 * the same machine. `--before` names a checkout of an earlier version: both versions alternate, and
 * the same program sends the calls. Each version has its own databases.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      before: { type: 'string' },
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '5' },
      projects: { type: 'string', default: `1,${clientCount}` },
      engines: { type: 'string', default: 'SQLite,PostgreSQL' },
    },
  })
  const here = await loadCheckout('this version', path.resolve(import.meta.dirname, '..'))
  const before = values.before && (await loadCheckout('before', path.resolve(values.before)))
  const options = {
    checkouts: before ? [before, here] : [here],
    engines: values.engines.split(','),
    projectCounts: values.projects.split(',').map(Number),
    measureMs: Number(values.seconds) * 1000,
    rounds: Number(values.rounds),
  }
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-bench-calls-'))
  try {
    const rows: string[][] = []
    for (const engine of options.engines)
      for (const projects of options.projectCounts)
        rows.push(...(await compare({ ...options, engine, projects, folder })))
    console.log(`\n${clientCount} clients, ${values.seconds} s a round, medians\n`)
    console.log(markdownTable(head, rows))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const head = [
  'database',
  'projects',
  'version',
  'calls/s',
  'all rounds',
  'p50 ms',
  'p99 ms',
  'CPU ms: server',
  'PostgreSQL',
  'client',
]

type Comparison = {
  readonly checkouts: readonly Checkout[]
  readonly engine: string
  readonly projects: number
  readonly measureMs: number
  readonly rounds: number
  readonly folder: string
}

async function compare(comparison: Comparison): Promise<string[][]> {
  const { checkouts, engine, projects, folder, rounds, measureMs } = comparison
  await using opened = new AsyncDisposableStack()
  const cluster = engine === 'PostgreSQL' ? opened.use(await startPostgresCluster()) : undefined
  const places = []
  for (const checkout of checkouts) {
    const url = cluster ? opened.use(await cluster.createDatabase()).url : ''
    const place = { name: engine, nodes: 1, url, folder: path.join(folder, randomUUID()) }
    const keys = await checkout.createKeys(place, projects)
    places.push({ checkout, place, keys, costs: [] as CallCosts[] })
  }
  for (let round = 1; round <= rounds; round++)
    for (const { checkout, place, keys, costs } of places) {
      showProgress(`round ${round}: ${engine}, ${projects} projects, ${checkout.name}`)
      await using gate = await checkout.forkGate(place.folder, {
        ...gateSettings,
        DATABASE_URL: place.url,
        KEY: keys[0] ?? '',
      })
      costs.push(await measureCalls(gate, keys, { measureMs, databaseUrl: cluster?.adminUrl }))
    }
  return places.map(({ checkout, costs }) => {
    const middle = (valueOf: (cost: CallCosts) => number) => median(costs.map(valueOf))
    return [
      engine,
      String(projects),
      checkout.name,
      middle(({ perS }) => perS).toFixed(0),
      costs.map(({ perS }) => perS.toFixed(0)).join(', '),
      middle(({ p50Ms }) => p50Ms).toFixed(1),
      middle(({ p99Ms }) => p99Ms).toFixed(1),
      middle(({ serverMs }) => serverMs).toFixed(3),
      cluster ? middle(({ databaseMs }) => databaseMs).toFixed(3) : '–',
      middle(({ clientMs }) => clientMs).toFixed(3),
    ]
  })
}
