import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { backfillHourlyCounts } from '../src/store/sqlite/backfill-hourly-counts.ts'
import { openStore } from '../src/store/open-store.ts'
import { startConsole, type TestConsole } from '../test/support/console/test-console.ts'
import { showProgress, markdownTable } from './support/table.ts'

const days = 30
const dayMs = 86_400_000

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

type CallLogFill = { readonly projectId: string; readonly calls: number; readonly nowMs: number }

/** Calls of 30 days: six actions, ten keys, one failure in twelve calls, each ok call charged. */
async function fillCallLog(
  dataDir: string,
  { projectId, calls, nowMs }: CallLogFill,
): Promise<void> {
  const file = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  file.function('pick', (index, list) => String(list).split(',')[Number(index)] ?? null)
  const fromMs = nowMs - days * dayMs
  const actions = "'svc.detect,svc.verify,svc.identify,svc.enroll,svc.liveness,svc.analyze'"
  const codes = "'NO_FACE_FOUND,RATE_LIMITED,INVALID_REQUEST,LOW_QUALITY'"
  file.exec(`
    begin;
    create temp table n as with recursive n(i) as (select 0 union all select i + 1 from n
      where i < ${calls - 1}) select i, abs(random()) as r from n;
    insert into ledgerTransfers (chain, seq, kind, fromLedger, toLedger, amountMicros, atMs,
      projectId, requestId, windowStartMs, rowHash)
    select 'budget:${projectId}', 10 + i, 'charge', 'budget:${projectId}', 'revenue:x', 1000,
      ${fromMs} + cast(i * ${(days * dayMs) / calls} as integer), '${projectId}', 'r' || i,
      ${fromMs}, zeroblob(32)
    from n where r % 12 > 0;
    insert into calls (atMs, keyId, projectId, requestId, action, code, latencyMs, costMicros,
      isReplay, transferId)
    select ${fromMs} + cast(i * ${(days * dayMs) / calls} as integer), 'key ' || (r % 10),
      '${projectId}', lower(hex(randomblob(16))), pick(r % 6, ${actions}),
      iif(r % 12 > 0, 'OK', pick((r / 12) % 4, ${codes})), 5.0 + (r % 1000) / 4.0,
      iif(r % 12 > 0, 1000, 0), 0,
      (select transferId from ledgerTransfers t where t.chain = 'budget:${projectId}'
        and t.seq = 10 + i)
    from n;
    delete from callHours;
    insert into scoreHours select '${projectId}', 'similarity', ${fromMs} / 3600000 * 3600000
      + value * 3600000, value % 50, 100, 50 from json_each('[${hoursList()}]');
    commit;
    analyze`)
  file.close()
  const store = await openStore(dataDir)
  await backfillHourlyCounts(store.db)
  await store.close()
}

function hoursList(): string {
  return Array.from({ length: days * 24 }, (_, hour) => hour).join(',')
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
