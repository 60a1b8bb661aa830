import { Readable } from 'node:stream'
import { z } from 'zod'
import { allActions } from '../actions/all.ts'
import { images, imagesIfAny } from '../actions/fields.ts'
import { jsonSchemaOf } from '../actions/json-schema.ts'
import type { Request } from '../http/exchange.ts'
import { errorTable } from '../lib/errors.ts'
import { isUuid, newId } from '../lib/ids.ts'
import { readCalls } from '../store/calls.ts'
import { createHiddenKey, findHiddenKey } from '../store/key-pages.ts'
import { listPrices } from '../store/prices.ts'
import type { KeyFacts } from '../store/keys.ts'
import { id, micros } from './fields.ts'
import { defineRead, defineWrite, noQuery, type ConsoleCall } from './route.ts'
import { theProject } from './the-project.ts'

const json = z.record(z.string(), z.unknown())

/** Every action with all that a form and a documentation of it need. */
export const listActions = defineRead({
  path: '/actions',
  who: 'viewer',
  query: noQuery,
  answer: z.array(
    z.object({
      name: z.string(),
      summary: z.string(),
      price: z.object({ unitsPerCall: z.int(), unitMicros: micros }),
      paramsSchema: json,
      valueSchema: json,
      errors: z.array(z.string()),
      example: z.object({ params: json, value: z.unknown() }),
      imagesMin: z.int(),
      imagesMax: z.int(),
    }),
  ),
  handle: async ({ visitor, services: { store, defaults } }) => {
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
        paramsSchema: jsonSchemaOf(params, 'input'),
        valueSchema: jsonSchemaOf(value, 'output'),
        errors: [...errors],
        example: { params: { ...example.params }, value: example.value },
        ...imagesOf(params),
      }
    })
  },
})

/** How many images an action looks at. Those for one image take more, and ignore them. */
function imagesOf(params: z.ZodType) {
  const field: unknown = params instanceof z.ZodObject ? params.shape['images'] : undefined
  if (field === undefined) return { imagesMin: 0, imagesMax: 0 }
  const isSingle = field === images || field === imagesIfAny
  return { imagesMin: field === imagesIfAny ? 0 : 1, imagesMax: isSingle ? 1 : 10 }
}

export const listErrors = defineRead({
  path: '/errors',
  who: 'viewer',
  query: noQuery,
  answer: z.array(
    z.object({ code: z.string(), message: z.string(), remedy: z.string(), http: z.int() }),
  ),
  handle: async () =>
    Object.entries(errorTable).map(([code, { condition, remedy, status }]) => {
      return { code, message: condition, remedy, http: status }
    }),
})

/** A call like any other, through the same gate: billed, limited and logged under a key of its own. */
export const play = defineWrite({
  method: 'POST',
  path: '/playground',
  who: 'admin',
  act: 'playground.call',
  query: noQuery,
  body: z.strictObject({
    projectId: id,
    call: z.looseObject({ action: z.string().max(128), requestId: z.string().optional() }),
  }),
  answer: z.object({
    envelope: z.unknown(),
    status: z.int(),
    latencyMs: z.number(),
    costMicros: micros,
  }),
  prepare: async (call) => {
    const { body, services, request } = call
    const requestId = isUuid(body.call.requestId) ? body.call.requestId : newId()
    const caller = await playgroundKey(call)
    const asked = requestOf(request, { requestId, ...body.call })
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
    return { answer, target: requestId, detail: { projectId: body.projectId, action } }
  },
})

type Playing = ConsoleCall<unknown, { readonly projectId: string }>

/** The project's hidden key; made at its first call. */
async function playgroundKey({ body, visitor, services }: Playing): Promise<KeyFacts> {
  const { store, clock } = services
  const { projectId } = await store.read((reading) => theProject(reading, { parts: body, visitor }))
  const known = await store.read((reading) => findHiddenKey(reading, projectId))
  if (known) return known
  return store.change(async ({ db, tx }) => {
    const now = new Date(clock())
    if (!(await findHiddenKey(tx, projectId))) await createHiddenKey(db, projectId, now)
    const made = await findHiddenKey(tx, projectId)
    if (!made) throw new Error('the key of the playground was made and is not there')
    return made
  })
}

/** The call as if it had come by itself; what else the browser sent stays here. */
function requestOf(request: Request, call: object): Request {
  return {
    ...request,
    path: '/v1/face/execute',
    headers: { 'content-type': 'application/json' },
    query: new URLSearchParams(),
    parts: {},
    body: Readable.from([Buffer.from(JSON.stringify(call))]),
  }
}
