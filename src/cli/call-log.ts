import { findCalls, type LoggedCall, type CallFilter } from '../store/gate/calls.ts'
import { UsageError, type CliCommand } from './command.ts'
import { parseOptions, parseTimeOption, text } from './options.ts'
import { formatTable, toJson } from './output.ts'
import { requireProject, withStore } from './with-store.ts'

const limitMax = 100_000

export const callLog: CliCommand = {
  name: 'log',
  summary: 'show the request log, newest call first',
  usage: `facegate log [--project <project>] [--key <keyId>] [--action <name>] [--code <code>]
             [--from <ISO 8601>] [--to <ISO 8601>] [--limit n] [--json]

  --code is OK, an error code of the documentation, HTTP_<status>, or EXPIRED for a
  call that expired. --from is inclusive, --to is exclusive. --limit is 1 to ${limitMax}
  (default: 50). --json prints one object per line.`,
  run: async (args) => {
    const values = parseOptions(args, {
      project: text,
      key: text,
      action: text,
      code: text,
      from: text,
      to: text,
      limit: { type: 'string', default: '50' },
    })
    const limit = /^\d{1,6}$/u.test(values.limit) ? Number(values.limit) : 0
    if (limit < 1 || limit > limitMax)
      throw new UsageError(`--limit must be a whole number from 1 to ${limitMax}`)
    const { project, key: keyId, action, code } = values
    const range = {
      fromMs: parseTimeMs('--from', values.from),
      toMs: parseTimeMs('--to', values.to),
    }
    const calls = await withStore(async (store) => {
      const filter: CallFilter = { keyId, action, code, limit, ...range }
      if (project === undefined) return findCalls(store.db, filter)
      const { projectId } = await requireProject(store, project)
      return findCalls(store.db, { ...filter, projectId })
    })
    if (!values.json) return console.log(table(calls))
    for (const call of calls) console.log(toJson(toLogEntry(call)))
  },
}

function parseTimeMs(option: string, value: string | undefined): number | undefined {
  return value === undefined ? undefined : parseTimeOption(option, value).getTime()
}

/** A row of the log with the field names of the API. */
function toLogEntry(call: LoggedCall) {
  const { atMs, keyId, projectId, action, requestId, code, latencyMs, costMicros } = call
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
        String(row.costMicros),
        row.replay ? 'replay' : '',
        row.requestId,
        row.keyId,
        row.projectId,
      ]),
  )
}
