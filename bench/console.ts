import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { startConsole, type TestConsole } from '../test/support/console/test-console.ts'
import { dayMs, days, fillCallLog } from './console/fill-call-log.ts'
import { showProgress, markdownTable } from './support/table.ts'

/**
 * `npm run bench console [--calls 1000000]`: the latency of the console's queries over HTTP on a large
 * request log, once after the start and then five times.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { calls: { type: 'string', default: '1000000' } },
  })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-bench-console-'))
  try {
    const initialConsole = await startConsole({ dataDir })
    const projectId = initialConsole.projectId
    const key = initialConsole.gallery.key
    await initialConsole[Symbol.asyncDispose]()
    showProgress(`writing ${values.calls} calls`)
    const nowMs = Date.now()
    await fillCallLog(dataDir, { projectId, calls: Number(values.calls), nowMs })
    const testConsole = await startConsole({ dataDir, key })
    const rows: string[][] = []
    for (const [name, query] of Object.entries(consoleQueries(projectId, nowMs)))
      rows.push(await measureQuery(testConsole, name, query))
    console.log(markdownTable(['query', 'cold ms', 'warm ms (median of 5)'], rows))
    await testConsole[Symbol.asyncDispose]()
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Query → its path under /console/v1. */
function consoleQueries(projectId: string, nowMs: number): Readonly<Record<string, string>> {
  const range = `fromUtc=${new Date(nowMs - days * dayMs).toISOString()}`
  const hourly = `${range}&bucket=hour`
  const olderRange = `toUtc=${new Date(nowMs - 20 * dayMs).toISOString()}`
  return {
    'overview, 1 day': '/overview?days=1',
    'overview, 30 days': '/overview?days=30',
    'calls by action, 30 days by the hour': `/analytics/calls?by=action&${hourly}`,
    'calls by key, 30 days by the day': `/analytics/calls?by=key&${range}&bucket=day`,
    'calls by code of a project, 30 days': `/analytics/calls?by=code&projectId=${projectId}&${hourly}`,
    'latency percentiles, 30 days by the hour': `/analytics/latency?${hourly}`,
    'spend by project, 30 days by the day': `/analytics/spend?by=project&${range}&bucket=day`,
    'similarities, 30 days': `/analytics/scores?kind=similarity&${range}`,
    'log, first page': '/log',
    'log, number of rows (at most 10,000)': '/log?limit=1&total=true',
    'log, 100 rows, the oldest first': '/log?limit=100&sort=time',
    'log, number of failed calls of an action':
      '/log?limit=1&total=true&action=svc.verify&result=failed',
    'log, a page of 20 days ago': `/log?${olderRange}`,
    'log, an action and a code': '/log?action=svc.verify&code=LOW_QUALITY',
    'log, a project': `/log?projectId=${projectId}`,
    'log, a requestId': '/log?requestId=00000000-0000-4000-8000-000000000000',
    'money ledger, first page': '/money/ledger',
    'reconcile, 30 days': `/money/reconcile?${range}`,
  }
}

async function measureQuery(
  testConsole: TestConsole,
  name: string,
  queryPath: string,
): Promise<string[]> {
  showProgress(name)
  const once = async (): Promise<number> => {
    const startMs = performance.now()
    const { status, text } = await testConsole.owner.get(queryPath)
    if (status !== 200) throw new Error(`${queryPath}: ${text}`)
    return performance.now() - startMs
  }
  const cold = await once()
  const warm: number[] = []
  for (let round = 0; round < 5; round++) warm.push(await once())
  warm.sort((a, b) => a - b)
  return [name, cold.toFixed(0), (warm[2] ?? Number.NaN).toFixed(0)]
}
