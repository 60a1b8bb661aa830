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
import { defineRead, emptyQuery } from '../server/route.ts'

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
  meteredMicros: micros.meta({
    description: 'The price of a call that was not charged, because billing was off.',
  }),
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
  find: async ({ query, identity, services: { store } }, { after, limit }) => {
    const { accountId } = identity
    const { fromUtc, toUtc, ...filter } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const position = after && { atMs: after[0], callId: after[1] }
    return store.read(async (tx) => {
      const calls = await readCalls(tx, { ...filter, ...times, accountId, after: position, limit })
      const formatCall = await createLogFormatter(tx, accountId)
      return calls.map((call) => ({
        item: formatCall(call),
        position: [call.atMs, call.callId] as const,
      }))
    })
  },
})

export const listLog = defineList(callLog)
export const logCsv = defineCsv(callLog)

/** One call with its charge. The content of request and response is never included. */
export const getCall = defineRead({
  path: '/log/:callId',
  minimumRole: 'viewer',
  query: emptyQuery,
  response: logEntry.extend({
    transfer: transfer.optional(),
    attempt: z
      .object({ state: z.string(), startedAtUtc: z.string(), answerKept: z.boolean() })
      .optional(),
  }),
  handle: async ({ pathParameters, identity, services: { store } }) =>
    store.read(async (tx) => {
      const { accountId } = identity
      const call = await findCall(tx, Number(pathParameters['callId']))
      const isOwn = call && (await findProjectSummaries(tx, accountId, call.projectId)).length > 0
      if (!isOwn) throw new HttpError(404, 'The request log has no call with this id.')
      const charge = call.transferId === null ? undefined : await findTransfer(tx, call.transferId)
      const attempt = await findAttemptStatus(tx, call)
      const formatCall = await createLogFormatter(tx, accountId)
      return {
        ...formatCall(call),
        ...(charge && { transfer: toTransferResponse(charge, formatCall(call).projectName) }),
        ...(attempt && { attempt }),
      }
    }),
})

/** Returns a function that adds the names of key and project to a row of the log. */
async function createLogFormatter(tx: ReadTx, accountId: string) {
  const keys = await keyNames(tx, accountId)
  const projects = new Map(
    (await findProjectSummaries(tx, accountId)).map(({ projectId, name }) => [projectId, name]),
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
    meteredMicros: String(call.meteredMicros),
    billed: call.transferId !== null,
    isReplay: call.isReplay === 1,
  })
}
