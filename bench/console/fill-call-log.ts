import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openStore } from '../../src/store/open-store.ts'
import { storeHourlyCounts } from './count-call-log.ts'

/** The days of the filled request log. */
export const days = 30

export const dayMs = 86_400_000

type CallLogFill = { readonly projectId: string; readonly calls: number; readonly nowMs: number }

/** Calls of 30 days: six actions, ten keys, one failure in twelve calls, each ok call charged. */
export async function fillCallLog(
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
  await storeHourlyCounts(store.db)
  await store.close()
}

function hoursList(): string {
  return Array.from({ length: days * 24 }, (_, hour) => hour).join(',')
}
