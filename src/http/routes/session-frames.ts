import { z } from 'zod'
import { attemptCauses } from '../../actions/schemas/challenge.ts'
import { runAsAccount } from '../../lib/account-context.ts'
import { ActionError, HttpError } from '../../lib/errors.ts'
import { errorResponse } from '../error-response.ts'
import { execute, type ExecuteOptions } from '../execute.ts'
import type { Envelope } from '../envelope.ts'
import type { HttpRequest, HttpResponse, Route } from '../route.ts'
import { requestIdHeader, serveRoute } from '../serve-route.ts'
import { sessionFields, toSessionFields } from './liveness-sessions.ts'

export const sessionFramesPath = '/v1/liveness/sessions/:sessionId/frames'

/** The header of the only credential that is not an API key. */
const sessionTokenHeader = 'X-Session-Token'

/** The response to the browser: no score and no measurement, which would help an attacker. */
export const sessionFramesResponse = z.object({
  ...sessionFields,
  isJudged: z.boolean().meta({ description: 'Whether the frames were judged and count.' }),
  causes: attemptCauses,
  detail: z.string().nullable().meta({ description: 'Why the frames were not judged.' }),
})

type FoundSession = NonNullable<
  Awaited<ReturnType<ExecuteOptions['services']['livenessSessions']['findByToken']>>
>

/**
 * Serves the route with which a browser sends the frames of a session. Its body is that of a call of
 * svc.liveness with images only, and runs as one: with the limits, the price and the log of the key
 * that created the session.
 */
export function serveSessionFrames(options: ExecuteOptions): Route {
  const route = { method: 'POST', path: sessionFramesPath } as const
  const served = serveRoute(route, {
    headersOf: requestIdHeader,
    authenticate: (request) => authenticateBrowser(request, options),
    read: async (browser, { request }) => ({ browser, request }),
    run: ({ browser, request }, { addHeaders }) => {
      addHeaders(originHeaders(request))
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
  if (!found || found.identity.state !== 'active' || found.identity.isFrozen === 1) {
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
  const { accountId } = found.identity
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
  const caller = {
    ...identity,
    permissions: identity.permissions.some((name) => name === '*' || name === 'svc.liveness')
      ? ['svc.liveness']
      : [],
  }
  const authenticate = async () => caller
  const { status, headers, body } = await execute(request, {
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
  // A call that was only validated has no results.
  const isJudged = error ? faceErrors.has(error.code) : (envelope.data?.results ?? []).length > 0
  return {
    status: error?.code === 'RATE_LIMITED' ? 429 : 200,
    headers,
    body: sessionFramesResponse.parse({
      ...toSessionFields(state),
      isJudged,
      causes: isJudged ? (state.result?.causes ?? []) : [],
      detail: isJudged ? null : (error?.message ?? null),
    }),
  }
}

/** The errors of a frame without exactly one usable face: the attempt has failed. */
const faceErrors: ReadonlySet<string> = new Set([
  'NO_FACE_FOUND',
  'MULTIPLE_FACES',
  'FACE_TOO_SMALL',
  'LOW_QUALITY',
])

/** Returns the only action of the route: svc.liveness for this session, with images of the browser. */
function actionsOf({ actions }: ExecuteOptions, sessionId: string): ExecuteOptions['actions'] {
  const action = actions.get('svc.liveness')
  if (!action) throw new Error('svc.liveness is missing')
  const withoutNulls = (params: unknown) => {
    const { images, ...others } = Object(action.withoutNulls(params)) as Record<string, unknown>
    const [unknown] = Object.keys(others)
    if (unknown !== undefined)
      throw new ActionError(
        'INVALID_REQUEST',
        'params: a page may send images only; the server that creates the session sets the rest',
      )
    return { images, livenessSessionId: sessionId }
  }
  return new Map([[action.name, { ...action, withoutNulls }]])
}
