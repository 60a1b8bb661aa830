import type { Action, Caller } from '../../actions/action.ts'
import { ActionError, HttpError } from '../../lib/errors.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import { readBody } from './read-body.ts'
import type { HttpRequest } from '../route.ts'
import { parseJson, type JsonLimits } from './parse-json.ts'
import { findUnstorable, toStorable } from './storable.ts'

/** A call with a valid envelope; the action validates `params`. */
export type ParsedCall = {
  readonly action: Action
  readonly params: unknown
  readonly debug: boolean
  readonly permissions: readonly string[]
}

export type ActionsByName = ReadonlyMap<string, Action>

const envelopeFields = new Set(['action', 'requestId', 'params', 'debug'])

/** The fields of the request that the response repeats. */
export type EchoedFields = { readonly requestId: string; readonly action: string }

export type ReadCallOptions = {
  readonly actions: ActionsByName
  readonly bodyBytesMax: number
  readonly jsonLimits: JsonLimits
}

/** Reads a call. An error is returned, because the gate decides when to report it. */
export async function readCall(
  request: HttpRequest,
  { keyId }: Pick<Caller, 'keyId'>,
  { actions, bodyBytesMax, jsonLimits }: ReadCallOptions,
): Promise<{
  readonly echoed: EchoedFields
  readonly parsed: ParsedCall | { readonly error: unknown }
}> {
  request.body.accept(keyId, bodyBytesMax)
  let echoed: EchoedFields = { requestId: newId(), action: '' }
  try {
    const version = request.headers['x-api-version'] ?? '1'
    if (version !== '1') throw new HttpError(400, 'X-Api-Version must be 1.')
    const body = parseJson(await readBody(request, bodyBytesMax), jsonLimits)
    echoed = readEchoedFields(body)
    return { echoed, parsed: parseCall(body, actions) }
  } catch (error) {
    return { echoed, parsed: { error } }
  }
}

/** The echoed action of a request without a valid one is truncated to this number of characters. */
const actionCharsMax = 128

/** Returns the echoed fields of any body; missing or invalid values get defaults. */
function readEchoedFields(body: Readonly<Record<string, unknown>>): EchoedFields {
  const { requestId, action } = body
  return {
    requestId: isUuid(requestId) ? requestId : newId(),
    action: typeof action === 'string' ? toStorable(action, actionCharsMax) : '',
  }
}

/** @throws ActionError INVALID_REQUEST with one item for each problem of the envelope. */
function parseCall(
  body: Readonly<Record<string, unknown>>,
  actionsByName: ActionsByName,
): ParsedCall {
  const { params, debug = false } = body
  const action = actionsByName.get(typeof body['action'] === 'string' ? body['action'] : '')
  const problems = Object.keys(body)
    .filter((field) => !envelopeFields.has(field))
    .map((field) => `${field.slice(0, 64)}: unknown field`)
  if (!action) problems.push(`action: must be one of ${[...actionsByName.keys()].join(', ')}`)
  if (body['requestId'] !== undefined && !isUuid(body['requestId']))
    problems.push('requestId: must be a UUID')
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    problems.push('params: must be an object')
  if (typeof debug !== 'boolean') problems.push('debug: must be true or false')
  problems.push(...findUnstorable(params, 'params'))
  if (!action || typeof debug !== 'boolean' || problems.length > 0)
    throw new ActionError('INVALID_REQUEST', problems)
  const permissions = debug ? [action.name, 'debug'] : [action.name]
  return { action, params, debug, permissions }
}
