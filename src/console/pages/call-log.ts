import { z } from 'zod'
import { formatUtc } from '../../lib/clock.ts'
import { HttpError } from '../../lib/errors.ts'
import { findNearMiss } from '../../store/gallery/feedback/near-miss-crops.ts'
import {
  countCallsByPrefix,
  countLoggedCalls,
  findCallsById,
  searchCalls,
  searchLatencies,
  type CallFilter,
  type CallLatency,
  type LoggedCall,
} from '../../store/gate/calls.ts'
import { findAttemptStatus } from '../../store/gate/stored-responses.ts'
import { keyNames } from '../../store/tenancy/key-list.ts'
import { findProjectNames } from '../../store/tenancy/project-summaries.ts'
import { findTransfer } from '../../store/billing/ledger-transfers.ts'
import type { ReadTx, Store } from '../../store/database.ts'
import { isUuid } from '../../lib/ids.ts'
import { callOutcomes } from '../../lib/observability/call-decision.ts'
import { listCountMax } from '../../lib/limits/list-limits.ts'
import { findDetail, messageOf, problemsOf } from '../analytics/call-failure.ts'
import { id, micros, requireCall, resolveTimeRange, timeRange } from '../server/input.ts'
import { defineList, type PageRequest } from '../server/define-list.ts'
import { callFeedback, readFeedback } from './feedback.ts'
import { transfer, toTransferResponse } from './money/ledger.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../server/console-route.ts'
import texts from '../field-texts.json' with { type: 'json' }

const number = z.number().nullable()

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
  meteredMicros: micros.describe(texts.callLog.meteredMicros),
  billed: z.boolean(),
  isReplay: z.boolean(),
  /** Why the call failed; null for a success. Of calls without a stored message, the general one. */
  message: z.string().nullable(),
  outcome: z.enum(callOutcomes).nullable().describe(texts.callLog.outcome),
  similarity: number,
  livenessScore: number,
  threshold: number,
  margin: number.describe(texts.callLog.margin),
  quality: number,
  reason: z.string().nullable().describe(texts.callLog.reason),
  nearMiss: z.boolean().describe(texts.callLog.nearMiss),
})

/** The fewest characters of a request id that are searched. */
const prefixCharsMin = 4

/** The most calls that a prefix may match: all of them are read to sort them by time. */
const prefixMatchesMax = 1000

const requestIdPrefix = z
  .string()
  .regex(
    new RegExp(`^[0-9a-f-]{${prefixCharsMin},36}$`, 'iu'),
    `must be a request id, or at least its first ${prefixCharsMin} characters`,
  )

const logFilter = z.strictObject({
  keyId: id.optional(),
  projectId: id.optional(),
  action: z.string().max(128).optional(),
  code: z.string().max(64).optional(),
  result: z.enum(['ok', 'failed']).optional(),
  outcome: z.enum(callOutcomes).optional(),
  nearMiss: z.enum(['true', 'false']).optional(),
  requestId: requestIdPrefix.optional(),
  ...timeRange,
})

export const { pages: listLog, csv: logCsv } = defineList({
  path: '/log',
  filter: logFilter,
  item: logEntry,
  sortBy: ['time', 'latency'],
  isDescending: true,
  position: z.tuple([z.number(), z.int()]),
  find: async (call, page) => {
    const filter = callFilter(call)
    const { sort } = page
    const { store } = call.services
    await store.read((tx) => requireSelectivePrefix(tx, filter.requestIdPrefix))
    const calls = await (sort.by === 'latency' ? readByLatency : readByTime)(store, filter, page)
    const formatCall = await store.read((tx) => createLogFormatter(tx, filter.accountId, calls))
    const by = sort.by === 'latency' ? 'latencyMs' : 'atMs'
    return calls.map((row) => ({ item: formatCall(row), position: [row[by], row.callId] as const }))
  },
  count: async (call) => {
    const filter = callFilter(call)
    const { store } = call.services
    await store.read((tx) => requireSelectivePrefix(tx, filter.requestIdPrefix))
    return countLoggedCalls(store, filter)
  },
})

type LogContext = ConsoleContext<z.output<typeof logFilter>>
type LogFilter = Omit<CallFilter, 'limit'> & { readonly accountId: string }

function callFilter({ query, identity, services: { clock } }: LogContext): LogFilter {
  const { keyId, projectId, action, code, result, outcome, nearMiss, requestId } = query
  const { fromUtc, toUtc } = resolveTimeRange(query, clock())
  return {
    accountId: identity.accountId,
    keyId,
    projectId,
    action,
    code,
    result,
    outcome,
    ...(nearMiss !== undefined && { nearMiss: nearMiss === 'true' }),
    // A complete id is one value; a shorter text is a prefix.
    ...(isUuid(requestId) ? { requestId } : { requestIdPrefix: requestId }),
    fromMs: fromUtc?.getTime(),
    toMs: toUtc?.getTime(),
  }
}

type LogPage = PageRequest<readonly [value: number, callId: number]>

function readByTime(store: Store, filter: LogFilter, { after, limit, sort }: LogPage) {
  const position = after && { atMs: after[0], callId: after[1] }
  const order = { isAscending: !sort.isDescending, after: position, limit }
  return searchCalls(store, { ...filter, ...order })
}

/**
 * No index has the order of latency, because every call would write it: the calls are sorted when they
 * are read.
 *
 * @throws HttpError 422 if there are too many of them.
 */
async function readByLatency(store: Store, filter: LogFilter, page: LogPage) {
  const { after, limit, sort, once } = page
  const direction = sort.isDescending ? -1 : 1
  const compare = (a: CallLatency, b: CallLatency): number =>
    direction * (a.latencyMs - b.latencyMs || a.callId - b.callId)
  const sorted = await once(async () => (await readLatencies(store, filter)).sort(compare))
  const last = after && { latencyMs: after[0], callId: after[1] }
  const rest = sorted.filter((call) => !last || compare(call, last) > 0)
  const calls: LoggedCall[] = []
  // Calls that were deleted since are replaced by the next ones.
  while (calls.length < limit && rest.length > 0) {
    const ids = rest.splice(0, limit - calls.length).map(({ callId }) => callId)
    calls.push(...(await store.read((tx) => findCallsById(tx, ids))))
  }
  return calls.sort(compare)
}

/** @throws HttpError 422 if there are too many calls. */
async function readLatencies(store: Store, filter: LogFilter): Promise<CallLatency[]> {
  const calls = await searchLatencies(store, { ...filter, limit: listCountMax + 1 })
  if (calls.length <= listCountMax) return calls
  throw new HttpError(
    422,
    `At most ${listCountMax} calls can be sorted by latency. Choose a shorter period or more filters.`,
  )
}

/** @throws HttpError 422 if the prefix matches too many calls. */
async function requireSelectivePrefix(tx: ReadTx, prefix: string | undefined): Promise<void> {
  if (prefix === undefined) return
  if ((await countCallsByPrefix(tx, prefix, prefixMatchesMax + 1)) > prefixMatchesMax)
    throw new HttpError(
      422,
      `More than ${prefixMatchesMax} request ids start with these characters. Enter more of them.`,
    )
}

/**
 * One call with its charge and, if it failed, the reasons. Pictures and templates are never included,
 * names and ids of subjects only with a match that can be confirmed or denied, or that was.
 */
export const getCall = defineRead('/log/:callId', {
  response: logEntry.extend({
    transfer: transfer.optional(),
    problems: z
      .array(
        z.object({
          code: z.string(),
          message: z.string(),
          path: z.string().optional(),
          imageIndex: z.int().optional(),
          hint: z.string().optional(),
        }),
      )
      .describe(texts.callLog.problems),
    isGeneral: z.boolean().describe(texts.callLog.isGeneral),
    parameters: z
      .record(z.string(), z.union([z.number(), z.boolean(), z.string(), z.array(z.string())]))
      .optional()
      .describe(texts.callLog.parameters),
    attempt: z
      .object({ state: z.string(), startedAtUtc: z.string(), isResponseStored: z.boolean() })
      .optional(),
    feedback: callFeedback,
    picture: z.object({ expiresAtUtc: z.string() }).optional().describe(texts.callLog.picture),
  }),
  handle: async (context) =>
    context.services.store.read(async (tx) => {
      const call = await requireCall(tx, context)
      const charge = call.transferId === null ? undefined : await findTransfer(tx, call.transferId)
      const attempt = await findAttemptStatus(tx, call)
      const formatCall = await createLogFormatter(tx, context.identity.accountId, [call])
      const detail = await findDetail(tx, call)
      const nearMiss = await findNearMiss(tx, call, context.services.clock())
      return {
        ...formatCall(call),
        problems: problemsOf(call, detail),
        isGeneral: detail === undefined,
        ...(detail && { parameters: detail.parameters }),
        ...(charge && { transfer: toTransferResponse(charge, formatCall(call).projectName) }),
        ...(attempt && { attempt }),
        feedback: await readFeedback(tx, call, context),
        ...(nearMiss && { picture: { expiresAtUtc: formatUtc(nearMiss.expiresAtMs) } }),
      }
    }),
})

/**
 * Returns the face of a near miss, as long as its project keeps it. It can show a person who is not
 * enrolled, so it is not shown to viewers, and each display is in the audit log.
 */
export const showPicture = defineWrite('/log/:callId/picture', {
  auditAction: 'log.showPicture',
  response: z.object({
    jpeg: z.string().meta({ description: 'A JPEG in base64.' }),
    expiresAtUtc: z.string(),
  }),
  handle: async (context, { tx }) => {
    const { subjects, clock } = context.services
    const call = await requireCall(tx, context)
    const found = await findNearMiss(tx, call, clock())
    const jpeg = found && (await subjects.readNearMissCrop(tx, found, found.cropId))
    if (!jpeg) throw new HttpError(404, 'No picture of this call is stored.')
    const { callId, projectId, requestId } = call
    return {
      response: { jpeg: jpeg.toString('base64'), expiresAtUtc: formatUtc(found.expiresAtMs) },
      target: requestId,
      detail: { callId, projectId },
    }
  },
})

/** Returns a function that adds the names of key and project to one of these rows of the log. */
async function createLogFormatter(tx: ReadTx, accountId: string, calls: readonly LoggedCall[]) {
  const keys = await keyNames(tx, accountId, [...new Set(calls.map(({ keyId }) => keyId))])
  const projects = new Map(
    (await findProjectNames(tx, accountId)).map(({ projectId, name }) => [projectId, name]),
  )
  return (call: LoggedCall) => ({
    ...call,
    atUtc: formatUtc(call.atMs),
    keyName: keys.get(call.keyId) ?? '',
    projectName: projects.get(call.projectId) ?? '',
    ok: call.code === 'OK',
    costMicros: String(call.costMicros),
    meteredMicros: String(call.meteredMicros),
    billed: call.transferId !== null,
    isReplay: call.isReplay === 1,
    nearMiss: call.nearMiss === 1,
    message: messageOf(call),
  })
}
