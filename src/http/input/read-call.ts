import type { Action } from '../../actions/action.ts'
import type {
  AuthenticatedCall,
  CallContent,
  RequestDescription,
  UnreadableContent,
} from '../../gate/call-states.ts'
import type { Gate } from '../../gate/gate.ts'
import {
  HttpError,
  problemsMax,
  toProblem,
  type ActionProblem,
  invalidRequest,
} from '../../lib/errors.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import { correlationIdCharsMax, imagesPerCallMax } from '../../lib/limits/call-limits.ts'
import { closestName } from '../../lib/validation/closest-name.ts'
import { sentImages } from '../../lib/validation/sent-images.ts'
import { describeRequest } from './describe-request.ts'
import { readBytes } from './read-body.ts'
import {
  envelopeFields,
  parseCallBody,
  type SentCall,
  type SentCallOptions,
} from './parse-call-body.ts'
import type { HttpRequest } from '../route.ts'
import { findUnstorable, toStorable, type JsonObject } from './parse-json.ts'

/** The content of a call with a valid envelope; the action validates `params`. */
export type ActionContent = CallContent & {
  readonly action: Action
  /** Whether the call is only checked. */
  readonly validateOnly: boolean
}

export type ActionsByName = ReadonlyMap<string, Action>

/** The action of calls without a known one in the request log, in counts and in metrics. */
const unknownAction = 'unknown'

/** Returns the name by which a call is counted: callers cannot create names, which charts list. */
export function countedName(action: string, actions: Pick<ActionsByName, 'has'>): string {
  return actions.has(action) ? action : unknownAction
}

/** The fields of the request that the response repeats. */
export type EchoedFields = {
  readonly requestId: string
  readonly action: string
  /** Of the images, in their order, as far as the request has readable ones. */
  readonly correlationIds?: readonly (string | undefined)[]
}

export type ReadCallOptions = SentCallOptions & {
  readonly actions: ActionsByName
  readonly gate: Pick<Gate, 'findEarlyRejection'>
}

/** Reads a call. An error is returned, because the gate decides when to report it. */
export async function readCall(
  request: HttpRequest,
  caller: AuthenticatedCall['caller'],
  options: ReadCallOptions,
): Promise<{
  readonly echoed: EchoedFields
  readonly content: ActionContent | UnreadableContent
  /** Describes the request for the request log. */
  readonly describeRequest: () => RequestDescription
}> {
  request.body.accept(caller, options.bodyBytesMax)
  let echoed: EchoedFields = { requestId: newId(), action: '' }
  let sent: Readonly<Record<string, unknown>> = {}
  const describe = () => describeRequest(sent, options.actions.get(echoed.action))
  let bytes: Buffer = Buffer.alloc(0)
  try {
    bytes = await readBytes(request, options.bodyBytesMax)
    requireApiVersion(request)
    const call = await parseCallBody(request, bytes, options, async (outline) => {
      sent = outline
      echoed = readEchoedFields(outline)
      await rejectEarly(outline, caller, options)
    })
    sent = call.body
    echoed = readEchoedFields(sent)
    return { echoed, content: parseCall(call, options.actions), describeRequest: describe }
  } catch (error) {
    const requestId = error instanceof HttpError ? findRequestId(bytes, request.query) : undefined
    if (requestId !== undefined) echoed = { ...echoed, requestId }
    return { echoed, content: { error }, describeRequest: describe }
  }
}

/** @throws HttpError 400 if the request is for another version of the API. */
export function requireApiVersion({ headers }: Pick<HttpRequest, 'headers'>): void {
  if ((headers['x-api-version'] ?? '1') !== '1')
    throw new HttpError(400, 'X-Api-Version must be 1, or absent.')
}

/**
 * Checks the permissions and the rate limit before a large body is decoded. The gate decides again.
 *
 * @throws ActionError FORBIDDEN or RATE_LIMITED.
 */
async function rejectEarly(
  { action, debug }: JsonObject,
  caller: AuthenticatedCall['caller'],
  { actions, gate }: ReadCallOptions,
): Promise<void> {
  const known = typeof action === 'string' ? actions.get(action) : undefined
  const permissions = known ? permissionsOf(known, debug === true) : []
  const rejection = await gate.findEarlyRejection({ caller, permissions })
  if (rejection) throw rejection
}

function permissionsOf({ name, permission = name }: Action, debug: boolean): readonly string[] {
  return debug ? [permission, 'debug'] : [permission]
}

/**
 * Finds the request id of a call whose body cannot be parsed: in its JSON, in its form, or in the query
 * of an image. A quote inside a JSON text is escaped, so that the text does not contain the name.
 */
function findRequestId(bytes: Buffer, query: URLSearchParams): string | undefined {
  const start = bytes.indexOf('"requestId"')
  const field = start === -1 ? '' : bytes.toString('latin1', start, start + fieldCharsMax)
  const sent = /^"requestId"\s*:?\s*"?(?<id>[\da-f-]{36})\b/iu.exec(field)?.groups?.['id']
  return [sent, query.get('requestId')].find(isUuid)
}

/** The echoed action of a request without a valid one is truncated to this number of characters. */
const actionCharsMax = 128

/** Returns the echoed fields of any body; missing or invalid values get defaults. */
function readEchoedFields(body: Readonly<Record<string, unknown>>): EchoedFields {
  const { requestId, action } = body
  return {
    requestId: isUuid(requestId) ? requestId : newId(),
    action: typeof action === 'string' ? toStorable(action, actionCharsMax) : '',
    correlationIds: sentImages(body['params']).slice(0, imagesPerCallMax).map(readCorrelationId),
  }
}

function readCorrelationId(image: unknown): string | undefined {
  const { correlationId } = Object(image) as { readonly correlationId?: unknown }
  return typeof correlationId === 'string'
    ? toStorable(correlationId, correlationIdCharsMax)
    : undefined
}

/** @throws ActionError INVALID_REQUEST with one item for each problem of the envelope. */
function parseCall(
  { body, problems: bodyProblems }: SentCall,
  actionsByName: ActionsByName,
): ActionContent {
  const action = actionsByName.get(typeof body['action'] === 'string' ? body['action'] : '')
  // Before the fingerprint is computed: null for an optional field and its absence are the same call.
  const params = action ? action.withoutNulls(body['params']) : body['params']
  const debug = body['debug'] ?? false
  const validateOnly = body['validateOnly'] ?? false
  const unknown = Object.keys(body).filter((field) => !envelopeFields.has(field))
  const problems = [
    ...bodyProblems,
    ...unknown.slice(0, problemsMax).map(describeUnknownField),
    ...(action ? [] : [describeAction(body['action'], [...actionsByName.keys()])]),
    ...describeRequestId(body['requestId']),
    ...describeParams(params),
    ...describeFlag('debug', debug),
    ...describeFlag('validateOnly', validateOnly),
    ...findUnstorable(params, 'params'),
  ]
  if (!action || !isFlag(debug) || !isFlag(validateOnly) || problems.length > 0)
    throw invalidRequest(problems, {
      count: problems.length + Math.max(0, unknown.length - problemsMax),
    })
  const { furtherPermissions = [] } = action
  const needed = furtherPermissions.filter(({ isNeeded }) => isNeeded?.(params))
  return {
    action,
    params,
    debug,
    validateOnly,
    permissions: permissionsOf(action, debug),
    replayPermissions: needed.map(({ permission }) => permission),
  }
}

function isFlag(value: unknown): value is boolean {
  return typeof value === 'boolean'
}

function describeFlag(name: string, value: unknown): string[] {
  return isFlag(value) ? [] : [`${name}: must be true or false, without quotes`]
}

function describeUnknownField(field: string): ActionProblem {
  const names = [...envelopeFields]
  const path = toStorable(field, fieldCharsMax)
  const closest = closestName(field, names)
  return toProblem({
    code: 'INVALID_REQUEST',
    message: `${path}: unknown field; the fields are ${names.join(', ')}`,
    path,
    hint:
      closest === undefined
        ? 'Put the parameters of the action into params.'
        : `Rename it to ${closest}.`,
  })
}

/** The characters of an unknown name in a message, and of a field with a request id. */
const fieldCharsMax = 64

function describeAction(action: unknown, names: readonly string[]): ActionProblem {
  const isMissing = action === undefined || action === null
  const closest = typeof action === 'string' ? closestAction(action, names) : undefined
  return toProblem({
    code: 'INVALID_REQUEST',
    message: `action: ${isMissing ? 'missing; ' : ''}must be one of ${names.join(', ')}`,
    ...(closest !== undefined && { hint: `Did you mean "${closest}"?` }),
  })
}

/** The prefix is often forgotten. */
function closestAction(action: string, names: readonly string[]): string | undefined {
  const prefix = 'svc.'
  return closestName(action.startsWith(prefix) ? action : `${prefix}${action}`, names)
}

function describeRequestId(requestId: unknown): string[] {
  if (requestId === undefined || requestId === null || isUuid(requestId)) return []
  return [
    'requestId: must be a UUID other than the nil UUID, such as 0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f, or absent: then the service creates one',
  ]
}

function describeParams(params: unknown): string[] {
  if (typeof params === 'object' && params !== null && !Array.isArray(params)) return []
  const isMissing = params === undefined || params === null
  return [
    `params: ${isMissing ? 'missing; ' : ''}must be an object with the parameters of the action`,
  ]
}
