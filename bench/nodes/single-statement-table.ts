import path from 'node:path'
import { formatMs, type LoadResult } from '../support/load.ts'
import { markdownTable, median, showProgress } from '../support/table.ts'
import { clientCount, type ClusterBench } from './cluster-bench.ts'
import { createKeys, gatedCalls } from './gated-calls-table.ts'

const projectCounts = [1, clientCount]
const modes = [
  { name: 'transactions', environment: { SINGLE_STATEMENT: 'off' } },
  { name: 'single statements', environment: {} },
]

/**
 * Compares gated calls per second of one server on PostgreSQL with and without the single statements
 * that admit and settle a call. Both modes alternate on one database.
 *
 * @returns a Markdown table.
 */
export async function singleStatementTable(bench: ClusterBench): Promise<string> {
  const rows: string[][] = []
  for (const projects of projectCounts) {
    await using database = await bench.cluster.createDatabase()
    const folder = path.join(bench.folder, `single-statement-${projects}`)
    const deployment = { name: 'PostgreSQL', nodes: 1, url: database.url, folder }
    const keys = await createKeys(deployment, projects)
    const loads = new Map<string, LoadResult[]>(modes.map(({ name }) => [name, []]))
    for (let round = 1; round <= bench.rounds; round++)
      for (const { name, environment } of modes) {
        showProgress(`round ${round}: ${name}, ${projects} projects`)
        const load = await gatedCalls({ ...deployment, environment }, keys, bench.measureMs)
        loads.get(name)?.push(load)
      }
    const baseline = medianPerS(loads.get(modes[0]?.name ?? '') ?? [])
    for (const [name, results] of loads) rows.push(rowOf(name, projects, results, baseline))
  }
  return markdownTable(head, rows)
}

const head = [
  'admission and settlement',
  'projects',
  'gated calls/s (median)',
  'ratio',
  'all rounds',
  'p50 ms (median)',
]

function rowOf(
  name: string,
  projects: number,
  results: readonly LoadResult[],
  baseline: number,
): string[] {
  const perS = medianPerS(results)
  return [
    name,
    String(projects),
    String(Math.round(perS)),
    `${(perS / baseline).toFixed(2)}×`,
    results.map((result) => String(Math.round(result.perS))).join(', '),
    formatMs(median(results.map(({ p50Ms }) => p50Ms))),
  ]
}

function medianPerS(results: readonly LoadResult[]): number {
  return median(results.map(({ perS }) => perS))
}
