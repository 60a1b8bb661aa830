import { z } from 'zod'
import type { Action, Services } from '../../actions/action.ts'
import type { analyze } from '../../actions/analyze.ts'
import { faceErrorCodes } from '../../actions/parts/challenge/analyze-frames.ts'
import { guidanceCauses } from '../../actions/parts/challenge/failure-causes.ts'
import { attemptCauses } from '../../actions/schemas/challenge.ts'
import { accountIsMoved } from '../../gate/authenticate.ts'
import { runAsAccount } from '../../lib/account-context.ts'
import { HttpError, invalidRequest } from '../../lib/errors.ts'
import { errorResponse } from '../error-response.ts'
import { execute, type ExecuteOptions } from '../execute.ts'
import type { Envelope } from '../envelope.ts'
import type { HttpRequest, HttpResponse, Route } from '../route.ts'
import { requestIdHeader, serveRoute } from '../serve-route.ts'
import { sessionFields, toSessionFields } from './liveness-sessions.ts'
import texts from '../../actions/schemas/field-texts.json' with { type: 'json' }

export const sessionFramesPath = '/v1/liveness/sessions/:sessionId/frames'

const sessionPermission = 'svc.liveness'

/** The header of the only credential that is not an API key. */
const sessionTokenHeader = 'X-Session-Token'

/** The response to the browser: no score and no evidence of the judgement, which would help an attacker. */
export const sessionFramesResponse = z.object({
  ...sessionFields,
  isJudged: z.boolean().describe(texts.sessionFrames.isJudged),
  causes: attemptCauses,
  face: z
    .object({ yaw: z.number(), pitch: z.number() })
    .nullable()
    .describe(texts.sessionFrames.face),
  detail: z.string().nullable().describe(texts.sessionFrames.detail),
})

type FoundSession = NonNullable<
  Awaited<ReturnType<ExecuteOptions['services']['livenessSessions']['findByToken']>>
>

/**
 * Serves the route with which a browser sends the frames of a session. Its body is that of a call with
 * images only, and runs as one: with the limits, the price and the log of the key that created the
 * session. svc.liveness judges an attempt. svc.analyze checks one frame while the person moves, which is
 * a part of the session: it is free, needs no further permission, and runs only while the session is
 * open. Its response is not replayed for a call of svc.analyze with a price.
 */
export function serveSessionFrames(options: ExecuteOptions): Route {
  const route = { method: 'POST', path: sessionFramesPath } as const
  const served = serveRoute(route, {
    headersOf: requestIdHeader,
    authenticate: (request) => authenticateBrowser(request, options),
    read: async (browser, { request }) => ({ browser, request }),
    run: ({ browser, request }, { addHeaders }) => {
      addHeaders(originHeaders(request))
      if (browser.identity.isFrozen === 1) throw accountIsMoved()
      return runFrames(browser, request, options)
    },
    toErrorResponse: (error, requestId) => errorResponse(error, requestId, options.log),
  })
  return { ...served, isCalledByPages: true }
}

/** Runs before the body is read. @throws HttpError 401, 403 or 429. */
async function authenticateBrowser(
  { headers, pathParams, clientIp }: HttpRequest,
  { gate, services: { livenessSessions } }: ExecuteOptions,
): Promise<FoundSession> {
  const token = headers[sessionTokenHeader.toLowerCase()] ?? ''
  const { sessionId = '' } = pathParams
  const found = await livenessSessions.findByToken(sessionId, token)
  if (found?.identity.state !== 'active') {
    const retryAfterS = await gate.authThrottle.recordFailure(clientIp)
    throw new HttpError(
      401,
      `The session is unknown or has ended, or ${sessionTokenHeader} is not its token. Create a session with POST /v1/liveness/sessions.`,
      { headers: retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {} },
    )
  }
  if (!found.origins.includes(headers['origin'] ?? ''))
    throw new HttpError(
      403,
      'Pages of this origin may not send frames; add the origin with facegate project set --liveness-origins.',
    )
  const { accountId, isFrozen } = found.identity
  // Nothing of a frozen account can be written.
  if (isFrozen === 1) return found
  const isTaken = await runAsAccount(accountId, () => livenessSessions.takeRequest(sessionId))
  if (isTaken) return found
  throw new HttpError(429, 'The session has no requests left; create another session.', {
    headers: originHeaders({ headers }),
  })
}

/** The page of the origin may read the response. The origin was compared with those of the project. */
function originHeaders({ headers }: Pick<HttpRequest, 'headers'>) {
  const origin = headers['origin']
  return {
    vary: 'Origin',
    ...(origin !== undefined && { 'access-control-allow-origin': origin }),
    'access-control-expose-headers': 'Retry-After, X-Request-Id',
  }
}

async function runFrames(
  { session: { sessionId, projectId }, identity }: FoundSession,
  request: HttpRequest,
  options: ExecuteOptions,
): Promise<HttpResponse> {
  // The session permits nothing else, whatever its key permits.
  const isPermitted = identity.permissions.some((one) => one === '*' || one === sessionPermission)
  const caller = { ...identity, permissions: isPermitted ? [sessionPermission] : [] }
  const authenticate = async () => caller
  const { status, headers, body } = await execute(withPageBudget(request), {
    ...options,
    actions: actionsOf(options, sessionId),
    gate: { ...options.gate, authenticate, authenticateForAdmission: authenticate },
  })
  if (status !== 200) return { status, headers, body }
  const envelope = body as Envelope
  const { livenessSessions } = options.services
  const state = await runAsAccount(identity.accountId, () =>
    livenessSessions.read(projectId, sessionId),
  )
  const [error] = envelope.errors
  const isAttempt = envelope.action === 'svc.liveness'
  // A call that was only validated has no results.
  const isJudged =
    isAttempt &&
    (error ? faceErrorCodes.has(error.code) : (envelope.data?.results ?? []).length > 0)
  const guidance = isAttempt ? { face: null, causes: [] } : toGuidance(envelope)
  return {
    status: error?.code === 'RATE_LIMITED' ? 429 : 200,
    headers,
    body: sessionFramesResponse.parse({
      ...toSessionFields(state),
      ...guidance,
      isJudged,
      causes: isJudged ? (state.result?.causes ?? []) : guidance.causes,
      detail: isJudged ? null : (error?.message ?? null),
    }),
  }
}

/** The bodies of all pages of a project share a budget, so that they leave memory to calls with keys. */
function withPageBudget({ body, ...request }: HttpRequest): HttpRequest {
  const accept: HttpRequest['body']['accept'] = (owner, bytesMax) =>
    body.accept({ ...owner, projectId: `pages ${owner.projectId}` }, bytesMax)
  return { ...request, body: { ...body, accept } }
}

/** Returns what the person can correct in a frame, and the pose of the head. */
function toGuidance({ data, errors }: Envelope) {
  const value = data?.results[0]?.value as z.output<typeof analyze.value> | undefined
  const face = value?.faces[0]
  return {
    face: face ? { yaw: face.pose.yaw, pitch: face.pose.pitch } : null,
    causes: guidanceCauses(value, errors[0]),
  }
}

/** Returns the actions of the route, with images of the browser and the parameters of the session. */
function actionsOf({ actions, services }: ExecuteOptions, sessionId: string) {
  const checkParams = { features: ['pose'], facePolicy: 'single' }
  const ofSession = [
    ['svc.liveness', { livenessSessionId: sessionId }, () => ({})],
    ['svc.analyze', checkParams, (action: Action) => checkTerms(action, sessionId, services)],
  ] as const
  const changed = ofSession.map(([name, params, termsOf]) => {
    const action = actions.get(name)
    if (!action) throw new Error(`${name} is missing`)
    const terms = termsOf(action)
    const withoutNulls = (sent: unknown) => ({
      images: imagesOf(action.withoutNulls(sent)),
      ...params,
    })
    return [name, { ...action, ...terms, withoutNulls }] as const
  })
  return new Map(changed)
}

/** Returns what differs between a check of a session and a call of its action. */
function checkTerms(action: Action, sessionId: string, { livenessSessions }: Services) {
  return {
    permission: sessionPermission,
    price: () => 0,
    replayScope: `liveness session ${sessionId}`,
    run: async (call: Parameters<Action['run']>[0]) => {
      await livenessSessions.requireOpen(call.caller.projectId, sessionId)
      return action.run(call)
    },
  }
}

/** @throws ActionError INVALID_REQUEST if the browser sends anything else. */
function imagesOf(params: unknown): unknown {
  const { images, ...others } = Object(params) as Record<string, unknown>
  if (Object.keys(others).length === 0) return images
  throw invalidRequest(
    'params: a page may send images only; the server that creates the session sets the rest',
  )
}
