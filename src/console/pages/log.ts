import { z } from 'zod'
import { HttpError } from '../../lib/errors.ts'
import { findAttemptStatus } from '../../store/gate/attempt-status.ts'
import { findCall, readCalls, type LoggedCall } from '../../store/gate/calls.ts'
import { keyNames } from '../../store/tenancy/key-list.ts'
import { findProjectSummaries } from '../../store/tenancy/project-summaries.ts'
import { findTransfer } from '../../store/billing/ledger-transfers.ts'
import type { ReadTx } from '../../store/tx.ts'
import { id, micros, timeRange } from '../server/schemas.ts'
import { defineList, defineCsv, declareList } from '../server/list.ts'
import { transfer, toTransferResponse } from './ledger.ts'
import { defineRead, noQuery } from '../server/route.ts'

const logEntry = z.object({
  callId: z.int(),
  atUtc: z.string(),
  keyId: z.string(),
  keyName: z.string(),
  projectId: z.string(),
  projectName: z.string(),
  requestId: z.string(),
  action: z.string(),
  code: z.string(),
  ok: z.boolean(),
  latencyMs: z.number(),
  costMicros: micros,
  billed: z.boolean(),
  isReplay: z.boolean(),
})

const callLog = declareList({
  path: '/log',
  minimumRole: 'viewer',
  filter: z.strictObject({
    keyId: id.optional(),
    projectId: id.optional(),
    action: z.string().max(128).optional(),
    code: z.string().max(64).optional(),
    requestId: id.optional(),
    ...timeRange,
  }),
  item: logEntry,
  position: z.tuple([z.int(), z.int()]),
  find: async ({ query, identity: visitor, services: { store } }, { after, limit }) => {
    const { accountId } = visitor
    const { fromUtc, toUtc, ...names } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const place = after && { atMs: after[0], callId: after[1] }
    return store.read(async (reading) => {
      const calls = await readCalls(reading, { ...names, ...times, accountId, after: place, limit })
      const show = await createLogFormatter(reading, accountId)
      return calls.map((call) => ({
        item: show(call),
        position: [call.atMs, call.callId] as const,
      }))
    })
  },
})

export const listLog = defineList(callLog)
export const logCsv = defineCsv(callLog)

/** One call and what it moved. Never what was sent or answered. */
export const getCall = defineRead({
  path: '/log/:callId',
  minimumRole: 'viewer',
  query: noQuery,
  response: logEntry.extend({
    transfer: transfer.optional(),
    attempt: z
      .object({ state: z.string(), startedAtUtc: z.string(), answerKept: z.boolean() })
      .optional(),
  }),
  handle: async ({ pathParameters: parts, identity: visitor, services: { store } }) =>
    store.read(async (reading) => {
      const { accountId } = visitor
      const call = await findCall(reading, Number(parts['callId']))
      const isOwn =
        call && (await findProjectSummaries(reading, accountId, call.projectId)).length > 0
      if (!isOwn) throw new HttpError(404, 'There is no such call in the log.')
      const moved =
        call.transferId === null ? undefined : await findTransfer(reading, call.transferId)
      const attempt = await findAttemptStatus(reading, call)
      const show = await createLogFormatter(reading, accountId)
      return {
        ...show(call),
        ...(moved && { transfer: toTransferResponse(moved, show(call).projectName) }),
        ...(attempt && { attempt }),
      }
    }),
})

/** Shows rows with the names of their keys and projects. */
async function createLogFormatter(reading: ReadTx, accountId: string) {
  const keys = await keyNames(reading, accountId)
  const projects = new Map(
    (await findProjectSummaries(reading, accountId)).map(({ projectId, name }) => [
      projectId,
      name,
    ]),
  )
  return (call: LoggedCall) => ({
    callId: call.callId,
    atUtc: new Date(call.atMs).toISOString(),
    keyId: call.keyId,
    keyName: keys.get(call.keyId) ?? '',
    projectId: call.projectId,
    projectName: projects.get(call.projectId) ?? '',
    requestId: call.requestId,
    action: call.action,
    code: call.code,
    ok: call.code === 'OK',
    latencyMs: call.latencyMs,
    costMicros: String(call.costMicros),
    billed: call.transferId !== null,
    isReplay: call.isReplay === 1,
  })
}
