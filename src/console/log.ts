import { z } from 'zod'
import { HttpError } from '../lib/errors.ts'
import { findAttempt } from '../store/attempt-facts.ts'
import { findCall, readCalls, type Call } from '../store/calls.ts'
import { keyNames } from '../store/key-pages.ts'
import { projectFacts } from '../store/project-facts.ts'
import { findTransfer } from '../store/transfers.ts'
import type { Reading } from '../store/tx.ts'
import { id, micros, range } from './fields.ts'
import { defineList, defineSheet, describeList } from './list.ts'
import { transfer, transferShown } from './money-ledger.ts'
import { defineRead, noQuery } from './route.ts'

const row = z.object({
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

const log = describeList({
  path: '/log',
  who: 'viewer',
  filter: z.strictObject({
    keyId: id.optional(),
    projectId: id.optional(),
    action: z.string().max(128).optional(),
    code: z.string().max(64).optional(),
    requestId: id.optional(),
    ...range,
  }),
  item: row,
  place: z.tuple([z.int(), z.int()]),
  find: async ({ query, visitor, services: { store } }, { after, limit }) => {
    const { accountId } = visitor
    const { fromUtc, toUtc, ...names } = query
    const times = { fromMs: fromUtc?.getTime(), toMs: toUtc?.getTime() }
    const place = after && { atMs: after[0], callId: after[1] }
    return store.read(async (reading) => {
      const calls = await readCalls(reading, { ...names, ...times, accountId, after: place, limit })
      const show = await shower(reading, accountId)
      return calls.map((call) => ({ item: show(call), place: [call.atMs, call.callId] as const }))
    })
  },
})

export const listLog = defineList(log)
export const logSheet = defineSheet(log)

/** One call and what it moved. Never what was sent or answered. */
export const getCall = defineRead({
  path: '/log/:callId',
  who: 'viewer',
  query: noQuery,
  answer: row.extend({
    transfer: transfer.optional(),
    attempt: z
      .object({ state: z.string(), startedAtUtc: z.string(), answerKept: z.boolean() })
      .optional(),
  }),
  handle: async ({ parts, visitor, services: { store } }) =>
    store.read(async (reading) => {
      const { accountId } = visitor
      const call = await findCall(reading, Number(parts['callId']))
      const isOwn = call && (await projectFacts(reading, accountId, call.projectId)).length > 0
      if (!isOwn) throw new HttpError(404, 'There is no such call in the log.')
      const moved =
        call.transferId === null ? undefined : await findTransfer(reading, call.transferId)
      const attempt = await findAttempt(reading, call)
      const show = await shower(reading, accountId)
      return {
        ...show(call),
        ...(moved && { transfer: transferShown(moved, show(call).projectName) }),
        ...(attempt && { attempt }),
      }
    }),
})

/** Shows rows with the names of their keys and projects. */
async function shower(reading: Reading, accountId: string) {
  const keys = await keyNames(reading, accountId)
  const projects = new Map(
    (await projectFacts(reading, accountId)).map(({ projectId, name }) => [projectId, name]),
  )
  return (call: Call) => ({
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
