import { parseArgs } from 'node:util'
import { findCalls, type LoggedCall, type CallFilter } from '../store/gate/calls.ts'
import { formatTable, toJson, requireProject, withStore } from './with-store.ts'
import { UsageError, type CliCommand } from './command.ts'
import { parseTimeOption } from './time-option.ts'

const text = { type: 'string' } as const
const limitMax = 100_000

export const callLog: CliCommand = {
  name: 'log',
  summary: 'show the request log, the newest call first',
  usage: `facegate log [--project <project>] [--key <keyId>] [--action <name>] [--code <code>]
             [--from <ISO 8601>] [--to <ISO 8601>] [--limit n] [--json]

  The code is OK, a code of the documentation, HTTP_<status>, or EXPIRED for a call that
  was given up. --from is part of the range, --to is not. With --json, one object a line.`,
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        project: text,
        key: text,
        action: text,
        code: text,
        from: text,
        to: text,
        limit: {
          type: 'string',
          default: '50',
        },
        json: {
          type: 'boolean',
          default: false,
        },
      },
    })
    const limit = /^\d{1,6}$/u.test(values.limit) ? Number(values.limit) : 0
    if (limit < 1 || limit > limitMax)
      throw new UsageError(`--limit is a whole number from 1 to ${limitMax}`)
    const { key: keyId, action, code } = values
    const range = {
      fromMs: parseTimeMs('--from', values.from),
      toMs: parseTimeMs('--to', values.to),
    }
    const calls = await withStore(async (store) => {
      const wanted = values.project
      const filter: CallFilter = { keyId, action, code, limit, ...range }
      if (wanted === undefined) return findCalls(store.db, filter)
      const { projectId } = await requireProject(store, wanted)
      return findCalls(store.db, { ...filter, projectId })
    })
    if (!values.json) return console.log(table(calls))
    for (const call of calls) console.log(toJson(toLogEntry(call)))
  },
}

function parseTimeMs(option: string, value: string | undefined): number | undefined {
  return value === undefined ? undefined : parseTimeOption(option, value).getTime()
}

/** A row of the log in the words of the contract. */
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
  }
}

function table(calls: readonly LoggedCall[]): string {
  return formatTable(
    ['time', 'action', 'code', 'ms', 'cost', 'replay', 'request', 'key', 'project'],
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
