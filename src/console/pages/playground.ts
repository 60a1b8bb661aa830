import { Readable } from 'node:stream'
import { z } from 'zod'
import { allActions } from '../../actions/all-actions.ts'
import { images, optionalImages } from '../../actions/schemas/images.ts'
import { toJsonSchema } from '../../actions/schemas/params-schema.ts'
import type { HttpRequest } from '../../http/route.ts'
import { createLivenessSession, livenessSession } from '../../http/routes/liveness-sessions.ts'
import { errorTable, HttpError } from '../../lib/errors.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import { readCalls } from '../../store/gate/calls.ts'
import { createPlaygroundKey, findPlaygroundKey } from '../../store/tenancy/key-list.ts'
import { listPrices } from '../../store/billing/prices.ts'
import { id, micros, requireProject } from '../server/input.ts'
import { defineRead, defineWrite, type ConsoleContext } from '../server/console-route.ts'
import texts from '../field-texts.json' with { type: 'json' }

const jsonObject = z.record(z.string(), z.unknown())

/** Returns every action with its schemas, prices, errors and example, for forms and documentation. */
export const listActions = defineRead('/actions', {
  response: z.array(
    z.object({
      name: z.string(),
      summary: z.string(),
      price: z.object({ unitsPerCall: z.int(), unitMicros: micros }),
      paramsSchema: jsonObject,
      valueSchema: jsonObject,
      errors: z.array(z.string()),
      example: z.object({ params: jsonObject, value: z.unknown() }),
      imagesMin: z.int(),
      imagesMax: z.int(),
    }),
  ),
  handle: async ({ identity, services: { store, defaults } }) => {
    const prices = await listPrices(store.db, identity.accountId)
    return allActions.map((action) => {
      const { price, params, value, example } = action
      const customPrice = prices.find((custom) => custom.action === action.name)
      return {
        ...action,
        price: {
          unitsPerCall: price(1),
          unitMicros: String(customPrice?.unitMicros ?? defaults.unitMicros),
        },
        paramsSchema: toJsonSchema(params, 'input'),
        valueSchema: toJsonSchema(value, 'output'),
        example: { params: { ...example.params }, value: example.value },
        ...imageLimits(params),
      }
    })
  },
})

/** Returns how many images an action uses. Actions for one image accept more and ignore them. */
export function imageLimits(params: z.ZodType) {
  const field: unknown = params instanceof z.ZodObject ? params.shape['images'] : undefined
  if (field === undefined) return { imagesMin: 0, imagesMax: 0 }
  const isSingle = field === images || field === optionalImages
  return { imagesMin: field instanceof z.ZodOptional ? 0 : 1, imagesMax: isSingle ? 1 : 10 }
}

/** Returns the limits of images and the false-match rates, for checks in the browser. */
export const getPlaygroundSettings = defineRead('/playground/settings', {
  response: z.object({
    imageBytesMax: z.int(),
    imagePixelsMax: z.int(),
    imageSideMinPx: z.int(),
    bodyBytesMax: z.int(),
    falseMatchRates: z
      .array(z.object({ similarity: z.number(), rate: z.number() }))
      .describe(texts.playground.falseMatchRates),
  }),
  handle: async ({ services: { imageLimits, bodyBytesMax, falseMatchRates } }) => ({
    ...imageLimits,
    bodyBytesMax,
    falseMatchRates,
  }),
})

export const listErrors = defineRead('/errors', {
  response: z.array(
    z.object({ code: z.string(), message: z.string(), remedy: z.string(), http: z.int() }),
  ),
  handle: async () =>
    Object.entries(errorTable).map(([code, { condition, remedy, status }]) => {
      return { code, message: condition, remedy, http: status }
    }),
})

/**
 * Runs a call through the same gate as any other call: it is billed, rate limited and logged. Each
 * project has a separate, hidden key for it.
 */
export const runPlaygroundCall = defineWrite('/playground', {
  auditAction: 'playground.call',
  isDoneByPrepare: true,
  body: z.strictObject({
    projectId: id,
    call: z.looseObject({ action: z.string().max(128), requestId: z.string().optional() }),
  }),
  response: z.object({
    envelope: z.unknown(),
    status: z.int(),
    latencyMs: z.number(),
    costMicros: micros,
    meteredMicros: micros,
    retryAfterS: z.number().nullable().describe(texts.playground.retryAfterS),
  }),
  prepare: async (call) => {
    const { body, services, request } = call
    const requestId = isUuid(body.call.requestId) ? body.call.requestId : newId()
    const caller = await findOrCreatePlaygroundKey(call)
    const apiRequest = toApiRequest(request, '/v1/face/execute', { requestId, ...body.call })
    const startMs = performance.now()
    const { status, body: envelope, headers } = await services.execute(caller, apiRequest)
    const measuredMs = performance.now() - startMs
    const filter = { keyId: caller.keyId, requestId, limit: 1 }
    const [row] = await services.store.read((tx) => readCalls(tx, filter))
    const { latencyMs = measuredMs, costMicros = 0n, meteredMicros = 0n } = row ?? {}
    const amounts = { costMicros: String(costMicros), meteredMicros: String(meteredMicros) }
    const retryAfter = headers?.['retry-after']
    const retryAfterS = retryAfter === undefined ? null : Number(retryAfter)
    return { envelope, status, latencyMs, ...amounts, retryAfterS, requestId }
  },
  handle: async ({ body, prepared: { requestId, ...response } }) => {
    const { action } = body.call
    return { response, target: requestId, detail: { projectId: body.projectId, action } }
  },
})

/** Creates a liveness session as the API does: rate limited and logged, with the hidden key. */
export const createPlaygroundSession = defineWrite('/playground/liveness-sessions', {
  auditAction: 'playground.session',
  isDoneByPrepare: true,
  body: z.strictObject({ projectId: id }),
  response: livenessSession,
  prepare: async (call) => {
    const caller = await findOrCreatePlaygroundKey(call)
    // Each check of a single frame would be a call of the playground.
    const sessionBody = { requireAngles: false }
    const request = toApiRequest(call.request, createLivenessSession.path, sessionBody)
    const { status, body } = await call.services.createSession(caller, request)
    if (status === 200) return livenessSession.parse(body)
    const { detail } = z.object({ detail: z.string() }).parse(body)
    throw new HttpError(status, detail)
  },
  handle: async ({ body: { projectId }, prepared: response }) => ({
    response,
    target: response.sessionId,
    detail: { projectId },
  }),
})

type PlaygroundContext = ConsoleContext<unknown, { readonly projectId: string }>

/** Returns the project's hidden key, which the first call creates. */
async function findOrCreatePlaygroundKey({ body, identity, services }: PlaygroundContext) {
  const { store, clock } = services
  const { projectId } = await store.read((tx) =>
    requireProject(tx, { pathParameters: body, identity }),
  )
  const now = new Date(clock())
  const existing = await store.read((tx) => findPlaygroundKey(tx, projectId, now))
  if (existing) return existing
  return store.runExclusive(async ({ db, tx }) => {
    const key = await findPlaygroundKey(tx, projectId, now)
    if (!key) await createPlaygroundKey(db, projectId, now)
    const created = key ?? (await findPlaygroundKey(tx, projectId, now))
    if (!created) throw new Error('the new playground key is missing in its own transaction')
    return created
  }, identity.accountId)
}

/** Returns a request with the body only: no cookie, header or query of the browser is passed on. */
function toApiRequest(request: HttpRequest, path: string, body: object): HttpRequest {
  return {
    ...request,
    path,
    headers: { 'content-type': 'application/json' },
    query: new URLSearchParams(),
    pathParams: {},
    // The copy of the call is counted in the budget of the project's key.
    body: { ...request.body, stream: Readable.from([Buffer.from(JSON.stringify(body))]) },
  }
}
