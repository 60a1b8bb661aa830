import { z } from 'zod'
import type { Action, ActionCall, ItemOutcomes } from '../actions/action.ts'
import { analyze } from '../actions/analyze.ts'
import { facesMax, reserveImages } from '../actions/parts/extract-probes.ts'
import type { CallOutput } from '../gate/settle.ts'
import { requireStorable } from '../http/input/parse-json.ts'
import type { HttpRequest } from '../http/route.ts'
import { parseJsonBody } from '../http/input/parse-large-json.ts'
import { readBody, requireNoBody, textBodyBytesMax } from '../http/input/read-body.ts'
import { mapSequential } from '../lib/account-context.ts'
import { ActionError, HttpError } from '../lib/errors.ts'
import { hasPermission } from '../lib/has-permission.ts'
import { requireValid } from '../lib/validation/describe-issue.ts'
import type { Tx } from '../store/database.ts'
import { type ImageQuery, needsAnalysis, refuseParameters } from './input/query.ts'
import type { CompreFaceImage } from './input/read-images.ts'
import {
  type CallContext,
  type CompreFaceCall,
  type CompreFaceReply,
  type CompreFaceRequest,
  type CompreFaceRoute,
} from './serve-route.ts'

/** One run of an action, with its price and its permission. */
export type PreparedAction<Value> = {
  readonly name: string
  readonly price: Action['price']
  readonly params: { readonly images: readonly CompreFaceImage[] }
  readonly run: (context: PreparedRunContext) => Promise<CallOutput<ActionReply<Value>>>
}

export type PreparedRunContext = CallContext & Pick<ActionCall<unknown>, 'debug'>

type ActionReply<Value> = Omit<CompreFaceReply, 'body' | 'headers'> & { readonly value: Value }

/** Prepares the run of an action with one image or one pair of images. */
export function prepareAction<Params extends z.ZodType, Value extends z.ZodType>(
  action: Action & { readonly params: Params; readonly value: Value },
  params: z.input<Params> & { readonly images: readonly CompreFaceImage[] },
): PreparedAction<z.output<Value>> {
  return {
    name: action.name,
    price: action.price,
    params,
    run: async (context) => {
      const result = await action.run({ ...context, params })
      if (!('effect' in result)) return { outcome: toReply(result) }
      return { ...result, effect: async (tx) => toReply(await result.effect(tx)) }
    },
  }

  /** @throws ActionError if the outcome is an error. */
  function toReply([outcome]: ItemOutcomes): ActionReply<z.output<Value>> {
    if (!outcome) throw new Error('an action has at least one outcome')
    if ('error' in outcome) throw new ActionError(outcome.error.code, outcome.error.message)
    const value = action.value.parse(outcome.value)
    const { unbilledImages = 0, faceEvents = [] } = outcome
    return {
      value,
      scores: action.scores({ ...outcome, value }),
      decision: outcome.decision,
      unbilledImages,
      faceEvents: faceEvents.map((event) => ({ resultIndex: 0, ...event })),
    }
  }
}

export type AnalyzeOutput = z.output<typeof analyze.value>

type ImageCall<Value> = {
  readonly main: PreparedAction<Value>
  /** The images that are also analyzed if a plugin needs it. */
  readonly images: readonly CompreFaceImage[]
  readonly query: ImageQuery
  /** @throws ActionError if CompreFace treats the value as an error. */
  readonly toResponse: (value: Value, analyses: readonly AnalyzeOutput[]) => unknown
}

/** Combines the main action and, for age and gender, one analysis of each image into one call. */
export function toCompreFaceCall<Value>({
  main,
  images,
  query,
  toResponse,
}: ImageCall<Value>): CompreFaceCall {
  const analyses = needsAnalysis(query) ? images.map((image) => prepareAnalysis(image, query)) : []
  return {
    name: main.name,
    permissions: [...new Set([main, ...analyses].map(({ name }) => name))],
    price: (imageCount) =>
      analyses.reduce((sum, { price }) => sum + price(1), main.price(imageCount)),
    params: main.params,
    run: async (context) => {
      // Clients of CompreFace send `status` with every call: a key without `debug` gets empty details.
      const debug = query.status === 'true' && hasPermission(context.caller.permissions, 'debug')
      const [output, ...analysisOutputs] = await runTogether({ ...context, debug }, main, analyses)
      return {
        effect: async (tx) => {
          const { value, ...reply } = await outcomeOf(output, tx)
          const replies = await mapSequential(analysisOutputs, (other) => outcomeOf(other, tx))
          const analyzed = replies.map((other) => other.value)
          const body = toResponse(value, analyzed)
          return { ...reply, body, headers: unsupportedPluginHeaders(query) }
        },
        afterCommit: 'effect' in output ? output.afterCommit : undefined,
      }
    },
  }
}

/** Runs all actions, or none if there is no room for all of their images. */
async function runTogether<Value>(
  context: PreparedRunContext,
  main: PreparedAction<Value>,
  analyses: readonly PreparedAction<AnalyzeOutput>[],
) {
  const images = [main, ...analyses].flatMap(({ params }) => params.images)
  using reserved = reserveImages(context, images)
  const analysisRuns = analyses.map((analysis) => analysis.run(reserved))
  return await Promise.all([main.run(reserved), ...analysisRuns])
}

function outcomeOf<Outcome>(output: CallOutput<Outcome>, tx: Tx): Promise<Outcome> | Outcome {
  return 'effect' in output ? output.effect(tx) : output.outcome
}

/** Names the plugins of the request that the response does not contain. */
function unsupportedPluginHeaders({ face_plugins: { unsupported } }: ImageQuery) {
  return unsupported.length > 0 ? { 'x-unsupported-plugins': unsupported.join(',') } : {}
}

export function prepareAnalysis(
  image: CompreFaceImage,
  query: ImageQuery,
): PreparedAction<AnalyzeOutput> {
  return prepareAction(analyze, {
    images: [image],
    features: ['landmarks', 'attributes'],
    maxFaces: Math.min(query.limit || facesMax, facesMax),
    ...confidenceParams(query),
  })
}

export function confidenceParams({ det_prob_threshold: threshold, boxProbability }: ImageQuery) {
  return threshold === undefined
    ? {}
    : { minFaceConfidence: boxProbability.toConfidence(threshold) }
}

type JsonRoute<Query, Body> = {
  readonly status?: 201
  /** The API key needs all of them. */
  readonly permissions: readonly string[] | ((query: Query) => readonly string[])
  /**
   * Parses the query. Without it the query is ignored, and of a route that deletes it must be empty.
   *
   * @throws ActionError INVALID_REQUEST.
   */
  readonly query?: (query: URLSearchParams) => Query
  /** The schema of the JSON body. Without it the body is not read. */
  readonly body?: z.ZodType<Body>
  readonly run: (
    call: JsonRouteCall<Query, Body>,
  ) => CallOutput<CompreFaceReply> | Promise<CallOutput<CompreFaceReply>>
}

type JsonRouteCall<Query, Body> = CallContext &
  Pick<HttpRequest, 'pathParams'> & { readonly query: Query; readonly body: Body }

/** Defines a route without an image. It is free and has a permission of the API. */
export function defineJsonRoute<Query = undefined, Body = undefined>(
  method: CompreFaceRoute['method'],
  path: CompreFaceRoute['path'],
  route: JsonRoute<Query, Body>,
): CompreFaceRoute {
  const name = `${method} ${path}`
  const permissions = typeof route.permissions === 'function' ? [] : route.permissions
  return {
    method,
    path,
    status: route.status ?? 200,
    known: route.body && (() => ({ name, permissions })),
    parse: async (compreFaceRequest) => {
      const { request } = compreFaceRequest
      const { pathParams, query: searchParams } = request
      if (method === 'DELETE') requireNoBody(request)
      if (method === 'DELETE' && !route.query) refuseParameters(searchParams)
      // Without a parser and a schema, `Query` and `Body` are undefined.
      const query = route.query ? route.query(searchParams) : (undefined as Query)
      const body = route.body ? await readJson(compreFaceRequest, route.body) : (undefined as Body)
      return {
        name,
        permissions:
          typeof route.permissions === 'function' ? route.permissions(query) : permissions,
        price: () => 0,
        params: {},
        run: async (context) => route.run({ ...context, query, body, pathParams }),
      }
    },
  }
}

/** A list is parsed as the field `list` of an object, because the parser accepts only objects. */
async function readJson<Body>(call: CompreFaceRequest, schema: z.ZodType<Body>) {
  const bytes = await readBody(call.request, textBodyBytesMax)
  const isList = schema instanceof z.ZodArray
  const text = isList ? Buffer.concat([Buffer.from('{"list":'), bytes, Buffer.from('}')]) : bytes
  const parsed = await parseJsonBody(text, call.options.jsonLimits)
  if (isList && Object.keys(parsed).length > 1)
    throw new HttpError(400, 'The request body has text after the list.')
  const value = isList ? parsed['list'] : parsed
  call.sent.body = value
  requireStorable(value, 'body')
  return requireValid(schema, value, 'body')
}
