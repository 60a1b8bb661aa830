import { LedgerError } from '../../billing/ledger.ts'
import { readBody } from '../../http/input/read-body.ts'
import type { HttpResponse, HttpRequest, Route } from '../../http/route.ts'
import { parseJson } from '../../http/input/parse-json.ts'
import { errorResponse } from '../../http/error-response.ts'
import { ActionError, HttpError, type ActionErrorCode } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { runAsAccount, runAsAllAccounts } from '../../lib/account-context.ts'
import { currentCallAttributes } from '../../lib/observability/call-trace.ts'
import { findFirstAccountId } from '../../store/tenancy/projects.ts'
import { touchSession } from '../../store/console/sessions.ts'
import { createCsvStream } from './csv-stream.ts'
import { ValidationError, parseInput } from './validation-error.ts'
import type { ConsoleContext, ConsoleRoute } from './route.ts'
import { requireSameOrigin, requireCsrfToken } from '../auth/request-security.ts'
import type { ConsoleServices } from '../services.ts'
import {
  hashToken,
  isAllowed,
  anonymousIdentity,
  findIdentity,
  type ConsoleIdentity,
} from '../auth/identity.ts'
import { executeWrite } from './execute-write.ts'

const apiPath = '/console/v1'

/** A route of the server: who asks, may they, is it well-formed, then the work. */
export function serveConsoleRoute(route: ConsoleRoute, services: ConsoleServices): Route {
  const { method } = route
  const handle = (request: HttpRequest) => handleRequest(route, request, services)
  return { method, path: `${apiPath}${route.path}`, handle }
}

/** Nothing here is for other sites, for frames, or to be kept. */
const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

async function handleRequest(
  route: ConsoleRoute,
  request: HttpRequest,
  services: ConsoleServices,
): Promise<HttpResponse> {
  try {
    if (route.method !== 'GET') requireSameOrigin(request)
    const identity = await runAsAllAccounts(() => authorize(route, request, services))
    const query = parseInput(route.query, Object.fromEntries(request.query), 'query')
    const body = await readInput(route, request, services)
    const call = { query, body, pathParameters: request.pathParams, identity, services, request }
    const done = await runInAccount(route, identity, () => runRoute(route, call))
    return { ...done, headers: { ...securityHeaders, ...done.headers } }
  } catch (error) {
    const refused = toErrorResponse(error, services)
    return { ...refused, headers: { ...securityHeaders, ...refused.headers } }
  }
}

/** Who signs in may be of any account; whoever has, of one. */
function runInAccount<T>(route: ConsoleRoute, { accountId }: ConsoleIdentity, does: () => T): T {
  return route.minimumRole === 'stranger' ? runAsAllAccounts(does) : runAsAccount(accountId, does)
}

/** @throws HttpError 401 for strangers where there must be none, 403 for too low a role. */
async function authorize(
  route: ConsoleRoute,
  request: HttpRequest,
  services: ConsoleServices,
): Promise<ConsoleIdentity> {
  const { store, clock, authThrottle: strangers } = services
  const known = await store.read((reading) => findIdentity(reading, request, clock()))
  const visitor = known ?? anonymousIdentity((await findFirstAccountId(store.db)) ?? '')
  if (!known && route.minimumRole !== 'stranger') {
    const retryAfterS = await strangers.recordFailure(request.clientIp)
    const wait = retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {}
    throw new HttpError(401, 'Sign in first.', { headers: wait })
  }
  if (!isAllowed(visitor.role, route.minimumRole))
    throw new HttpError(403, `This needs the role ${route.minimumRole}.`)
  if (route.method !== 'GET' && route.minimumRole !== 'stranger') requireCsrfToken(request, visitor)
  await recordActivity(visitor, services)
  return visitor
}

/** A session's last use is written down once in so long. */
const touchIntervalMs = 60_000

async function recordActivity(
  { token, lastSeenAtMs }: ConsoleIdentity,
  { store, clock }: ConsoleServices,
) {
  const nowMs = clock()
  if (token === undefined || nowMs - lastSeenAtMs < touchIntervalMs) return
  await store.write((tx) => touchSession(tx, hashToken(token), nowMs))
}

/** Pictures come only to the playground; whatever else is sent is small. */
const bodyBytesMaxDefault = 64 * 1024

async function readInput(route: ConsoleRoute, request: HttpRequest, services: ConsoleServices) {
  if (route.method === 'GET' || route.body.def.type === 'undefined') return undefined
  const bytesMax = route.path === '/playground' ? services.bodyBytesMax : bodyBytesMaxDefault
  return parseInput(
    route.body,
    parseJson(await readBody(request, bytesMax), services.jsonLimits),
    'body',
  )
}

async function runRoute(route: ConsoleRoute, call: ConsoleContext): Promise<HttpResponse> {
  if ('rows' in route)
    return toCsvResponse(route.path, await createCsvStream(route.columns, route.rows(call)))
  if (route.method !== 'GET') return executeWrite(route, call)
  return { status: 200, body: route.response.parse(await route.handle(call)) }
}

function toCsvResponse(path: string, body: unknown): HttpResponse {
  const file = path
    .split('/')
    .at(-1)
    ?.replaceAll(/[^a-z.-]/gu, '')
  const disposition = `attachment; filename="facegate-${file}"`
  const type = { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': disposition }
  return { status: 200, headers: type, body }
}

/** What the codes of actions are called by HTTP; all others are questions that make no sense. */
const statusByErrorCode: Partial<Record<ActionErrorCode, number>> = {
  SUBJECT_NOT_FOUND: 404,
  GROUP_NOT_FOUND: 404,
  EXTERNAL_ID_CONFLICT: 409,
}

function toErrorResponse(error: unknown, { log }: ConsoleServices): HttpResponse {
  if (error instanceof ValidationError)
    return { status: 422, body: { detail: error.message, problems: error.problems } }
  if (error instanceof ActionError)
    return { status: statusByErrorCode[error.code] ?? 422, body: { detail: error.message } }
  if (error instanceof LedgerError) return { status: 409, body: { detail: `${error.message}.` } }
  return errorResponse(error, currentCallAttributes().requestId ?? newId(), log)
}
