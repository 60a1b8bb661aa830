import { Readable } from 'node:stream'
import { z } from 'zod'
import { allActions } from '../../actions/all-actions.ts'
import { images, optionalImages } from '../../actions/schemas/fields.ts'
import { toJsonSchema } from '../../actions/schemas/json-schema.ts'
import type { HttpRequest } from '../../http/route.ts'
import { errorTable } from '../../lib/errors.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import { readCalls } from '../../store/gate/calls.ts'
import { createPlaygroundKey, findPlaygroundKey } from '../../store/tenancy/key-list.ts'
import { listPrices } from '../../store/billing/prices.ts'
import type { KeyIdentity } from '../../store/tenancy/keys.ts'
import { id, micros } from '../server/schemas.ts'
import { defineRead, defineWrite, noQuery, type ConsoleContext } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

const jsonObject = z.record(z.string(), z.unknown())

/** Every action with all that a form and a documentation of it need. */
export const listActions = defineRead({
  path: '/actions',
  minimumRole: 'viewer',
  query: noQuery,
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
  handle: async ({ identity: visitor, services: { store, defaults } }) => {
    const prices = await listPrices(store.db, visitor.accountId)
    return allActions.map(({ name, summary, price, params, value, errors, example }) => {
      const own = prices.find(({ action }) => action === name)
      return {
        name,
        summary,
        price: {
          unitsPerCall: price(1),
          unitMicros: String(own?.unitMicros ?? defaults.unitMicros),
        },
        paramsSchema: toJsonSchema(params, 'input'),
        valueSchema: toJsonSchema(value, 'output'),
        errors: [...errors],
        example: { params: { ...example.params }, value: example.value },
        ...imageLimits(params),
      }
    })
  },
})

/** How many images an action looks at. Those for one image take more, and ignore them. */
function imageLimits(params: z.ZodType) {
  const field: unknown = params instanceof z.ZodObject ? params.shape['images'] : undefined
  if (field === undefined) return { imagesMin: 0, imagesMax: 0 }
  const isSingle = field === images || field === optionalImages
  return { imagesMin: field === optionalImages ? 0 : 1, imagesMax: isSingle ? 1 : 10 }
}

export const listErrors = defineRead({
  path: '/errors',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.array(
    z.object({ code: z.string(), message: z.string(), remedy: z.string(), http: z.int() }),
  ),
  handle: async () =>
    Object.entries(errorTable).map(([code, { condition, remedy, status }]) => {
      return { code, message: condition, remedy, http: status }
    }),
})

/** A call like any other, through the same gate: billed, limited and logged under a key of its own. */
export const runPlaygroundCall = defineWrite({
  method: 'POST',
  path: '/playground',
  minimumRole: 'admin',
  auditAction: 'playground.call',
  query: noQuery,
  body: z.strictObject({
    projectId: id,
    call: z.looseObject({ action: z.string().max(128), requestId: z.string().optional() }),
  }),
  response: z.object({
    envelope: z.unknown(),
    status: z.int(),
    latencyMs: z.number(),
    costMicros: micros,
  }),
  prepare: async (call) => {
    const { body, services, request } = call
    const requestId = isUuid(body.call.requestId) ? body.call.requestId : newId()
    const caller = await findOrCreatePlaygroundKey(call)
    const asked = toExecuteRequest(request, { requestId, ...body.call })
    const startMs = performance.now()
    const { status, body: envelope } = await services.execute(caller, asked)
    const measuredMs = performance.now() - startMs
    const filter = { keyId: caller.keyId, requestId, limit: 1 }
    const [row] = await services.store.read((reading) => readCalls(reading, filter))
    const { latencyMs = measuredMs, costMicros = 0n } = row ?? {}
    return { envelope, status, latencyMs, costMicros: String(costMicros), requestId }
  },
  handle: async ({ body, prepared: { requestId, ...answer } }) => {
    const { action } = body.call
    return { response: answer, target: requestId, detail: { projectId: body.projectId, action } }
  },
})

type PlaygroundContext = ConsoleContext<unknown, { readonly projectId: string }>

/** The project's hidden key; made at its first call. */
async function findOrCreatePlaygroundKey({
  body,
  identity: visitor,
  services,
}: PlaygroundContext): Promise<KeyIdentity> {
  const { store, clock } = services
  const { projectId } = await store.read((reading) =>
    requireProject(reading, { pathParameters: body, identity: visitor }),
  )
  const known = await store.read((reading) => findPlaygroundKey(reading, projectId))
  if (known) return known
  return store.runExclusive(async ({ db, tx }) => {
    const now = new Date(clock())
    if (!(await findPlaygroundKey(tx, projectId))) await createPlaygroundKey(db, projectId, now)
    const made = await findPlaygroundKey(tx, projectId)
    if (!made) throw new Error('the key of the playground was made and is not there')
    return made
  })
}

/** The call as if it had come by itself; what else the browser sent stays here. */
function toExecuteRequest(request: HttpRequest, call: object): HttpRequest {
  return {
    ...request,
    path: '/v1/face/execute',
    headers: { 'content-type': 'application/json' },
    query: new URLSearchParams(),
    pathParams: {},
    body: Readable.from([Buffer.from(JSON.stringify(call))]),
  }
}
