import { findCalls, type LoggedCall, type CallFilter } from '../../store/gate/calls.ts'
import { formatTable, toJson } from '../output.ts'
import { findProjectId, withStore } from '../with-store.ts'
import type { CommandValues } from '../command.ts'

type CallLogOptions = CommandValues<never, 'project' | 'key' | 'action' | 'code'> & {
  readonly from: Date | undefined
  readonly to: Date | undefined
  readonly limit: number
}

/** Prints rows of the request log, the newest first. */
export async function showCallLog({
  project,
  key: keyId,
  from,
  to,
  json,
  ...values
}: CallLogOptions): Promise<void> {
  const filter: CallFilter = {
    keyId,
    action: values.action,
    code: values.code,
    limit: values.limit,
    fromMs: from?.getTime(),
    toMs: to?.getTime(),
  }
  const calls = await withStore(async (store) => {
    const projectId = await findProjectId(store, project)
    return findCalls(store.db, { ...filter, projectId })
  })
  if (!json) return console.log(table(calls))
  for (const call of calls) console.log(toJson(toLogEntry(call)))
}

/** A row of the log with the field names of the API. */
function toLogEntry(call: LoggedCall) {
  const { atMs, keyId, projectId, action, requestId, code, latencyMs } = call
  const { costMicros, meteredMicros } = call
  return {
    atUtc: new Date(atMs).toISOString(),
    projectId,
    keyId,
    requestId,
    action,
    code,
    latencyMs,
    billed: call.transferId !== null,
    costMicros,
    meteredMicros,
    replay: call.isReplay === 1,
    ...(call.detail !== null && { detail: JSON.parse(call.detail) as unknown }),
  }
}

function table(calls: readonly LoggedCall[]): string {
  return formatTable(
    ['time', 'action', 'code', 'latency (ms)', 'cost', 'replay', 'request', 'key', 'project'],
    calls
      .map(toLogEntry)
      .map((row) => [
        row.atUtc,
        row.action,
        row.code,
        row.latencyMs.toFixed(1),
        row.meteredMicros > 0n ? `(${row.meteredMicros})` : String(row.costMicros),
        row.replay ? 'replay' : '',
        row.requestId,
        row.keyId,
        row.projectId,
      ]),
  )
}
