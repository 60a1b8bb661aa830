import { searchCalls, type LoggedCall, type CallFilter } from '../../store/gate/calls.ts'
import { formatAmount } from '../../lib/money.ts'
import { keyNames } from '../../store/tenancy/key-list.ts'
import { projectNames } from '../../store/tenancy/projects.ts'
import { type CommandValues, formatRows, toJson } from '../command.ts'
import { findProjectId, withStore } from '../with-store.ts'

type CallLogOptions = CommandValues<never, 'project' | 'key' | 'action' | 'code'> & {
  readonly outcome: CallFilter['outcome']
  readonly 'near-miss': boolean
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
    outcome: values.outcome,
    ...(values['near-miss'] && { nearMiss: true }),
    limit: values.limit,
    fromMs: from?.getTime(),
    toMs: to?.getTime(),
  }
  const entries = await withStore(async (store) => {
    const projectId = await findProjectId(store, project)
    const keys = await store.read((tx) => keyNames(tx))
    if (keyId !== undefined && !keys.has(keyId))
      throw new Error(`there is no key ${keyId}; facegate key list prints all keys`)
    const projects = await projectNames(store.db)
    const calls = await searchCalls(store, { ...filter, projectId })
    return calls.map((call) => toLogEntry(call, { keys, projects }))
  })
  if (!json) return console.log(table(entries))
  for (const entry of entries) console.log(toJson(entry))
}

type Names = Readonly<Record<'keys' | 'projects', ReadonlyMap<string, string>>>

/** A row of the log with the field names of the API. */
function toLogEntry(call: LoggedCall, { keys, projects }: Names) {
  const { atMs, keyId, projectId, action, requestId, code, latencyMs } = call
  const { costMicros, meteredMicros } = call
  return {
    atUtc: new Date(atMs).toISOString(),
    projectId,
    projectName: projects.get(projectId) ?? '',
    keyId,
    keyName: keys.get(keyId) ?? '',
    requestId,
    action,
    code,
    latencyMs,
    billed: call.transferId !== null,
    costMicros,
    meteredMicros,
    replay: call.isReplay === 1,
    outcome: call.outcome,
    similarity: call.similarity,
    livenessScore: call.livenessScore,
    threshold: call.threshold,
    margin: call.margin,
    quality: call.quality,
    reason: call.reason,
    nearMiss: call.nearMiss === 1,
    ...(call.detail !== null && { detail: JSON.parse(call.detail) as unknown }),
  }
}

function table(entries: readonly ReturnType<typeof toLogEntry>[]): string {
  return formatRows(entries, {
    time: 'atUtc',
    action: 'action',
    code: 'code',
    'latency (ms)': ({ latencyMs }) => latencyMs.toFixed(1),
    cost: ({ meteredMicros, costMicros }) =>
      meteredMicros > 0n ? `(${formatAmount(meteredMicros)})` : formatAmount(costMicros),
    replay: ({ replay }) => (replay ? 'replay' : ''),
    outcome: 'outcome',
    score: ({ similarity, livenessScore }) => (similarity ?? livenessScore)?.toFixed(2),
    request: 'requestId',
    key: 'keyName',
    'key id': 'keyId',
    project: 'projectName',
    'project id': 'projectId',
  })
}
