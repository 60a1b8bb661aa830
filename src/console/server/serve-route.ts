import { LedgerError } from '../../billing/ledger.ts'
import { requireStorable, requireValidParameters } from '../../http/input/parse-json.ts'
import type { BodyOwner } from '../../http/input/incoming-body.ts'
import { readJson, requireNoBody } from '../../http/input/read-body.ts'
import type { HttpResponse, HttpRequest, Route } from '../../http/route.ts'
import { serveRoute } from '../../http/serve-route.ts'
import { errorResponse, errorStatuses, type ErrorFormat } from '../../http/error-response.ts'
import { parseResponse } from '../../http/routes/parse-response.ts'
import { HttpError } from '../../lib/errors.ts'
import { ownTurn } from '../../lib/limits/own-turn.ts'
import { runAsAccount, runAsAllAccounts } from '../../lib/account-context.ts'
import { findFirstAccountId } from '../../store/tenancy/projects.ts'
import { addAuditEntry } from '../../store/console/audit-log.ts'
import { touchSession } from '../../store/console/sessions.ts'
import type { ReadTx } from '../../store/database.ts'
import { createCsvStream } from './csv-stream.ts'
import { csvPageRows, queueRead } from './define-list.ts'
import { ValidationError, parseInput } from './input.ts'
import type {
  ConsoleContext,
  ConsoleRoute,
  CsvRoute,
  FileContent,
  WriteRoute,
  WriteResult,
} from './console-route.ts'
import { requireSameOrigin, requireCsrfToken } from '../auth/sign-in.ts'
import type { ConsoleServices } from '../services.ts'
import {
  isAllowed,
  anonymousIdentity,
  sessionChallenge,
  findIdentity,
  type ConsoleIdentity,
} from '../auth/identity.ts'
import { hashToken } from '../auth/session-token.ts'

const apiPath = '/console/v1'

/** Turns a console route into an HTTP route: authorize, validate, run the handler. */
export function serveConsoleRoute(route: ConsoleRoute, services: ConsoleServices): Route {
  const { method, path } = route
  return serveRoute(
    { method, path: `${apiPath}${path}` },
    {
      headersOf: () => securityHeaders,
      authenticate: (request) => runAsAllAccounts(async () => authorize(route, request, services)),
      read: (identity, { request }) => readCall(route, { request, identity, services }),
      run: (call) => runInAccount(route, call.identity, () => runRoute(route, call)),
      toErrorResponse: (error, requestId) => toErrorResponse(error, requestId, services),
    },
  )
}

/** Responses are not for other sites or frames. */
const securityHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
}

/** Runs for the user's account. Anonymous routes run for all accounts, because they sign users in. */
function runInAccount<T>(route: ConsoleRoute, { accountId }: ConsoleIdentity, run: () => T): T {
  return route.minimumRole === 'anonymous' ? runAsAllAccounts(run) : runAsAccount(accountId, run)
}

/**
 * @throws HttpError 401 without a session where one is required, 429 if an address sends too many
 * requests without a session, 403 if the role is too low.
 */
async function authorize(route: ConsoleRoute, request: HttpRequest, services: ConsoleServices) {
  const { store, clock, authThrottle } = services
  if (route.method !== 'GET') requireSameOrigin(request)
  const signedIn = await store.read((tx) => findIdentity(tx, request, clock()))
  const identity = signedIn ?? anonymousIdentity((await findFirstAccountId(store.db)) ?? '')
  if (!signedIn && route.minimumRole !== 'anonymous') {
    const retryAfterS = await authThrottle.recordFailure(request.clientIp)
    throw signInRequired(retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {})
  }
  if (!signedIn) services.anonymousLimit(request)
  requireRole(route, identity)
  if (route.method !== 'GET' && route.minimumRole !== 'anonymous')
    requireCsrfToken(request, identity)
  await recordActivity(identity, services)
  return identity
}

function signInRequired(extraHeaders: HttpResponse['headers'] = {}): HttpError {
  const headers = { ...sessionChallenge, 'x-session': 'required', ...extraHeaders }
  return new HttpError(401, 'Sign in first.', { headers })
}

function requireRole(
  { minimumRole }: Pick<ConsoleRoute, 'minimumRole'>,
  { role }: ConsoleIdentity,
): void {
  if (!isAllowed(role, minimumRole))
    throw new HttpError(403, `The role ${minimumRole} is required.`)
}

/**
 * Returns the call with the identity that the database contains now. The body of a write can arrive
 * long after its headers, and a download can be read slowly, until after the user is disabled, demoted
 * or signed out.
 *
 * @throws HttpError 401 if the session has ended, 403 if the role is now too low.
 */
async function authorizeAgain(
  tx: ReadTx,
  route: Pick<ConsoleRoute, 'minimumRole'>,
  call: ConsoleContext,
): Promise<ConsoleContext> {
  if (route.minimumRole === 'anonymous') return call
  const identity = await findIdentity(tx, call.request, call.services.clock())
  if (!identity) throw signInRequired()
  requireRole(route, identity)
  return { ...call, identity }
}

/** The last use of a session is stored at most once per interval. */
const touchIntervalMs = 60_000

async function recordActivity(
  { token, lastSeenAtMs }: ConsoleIdentity,
  { store, clock }: ConsoleServices,
) {
  const nowMs = clock()
  if (token === undefined || nowMs - lastSeenAtMs < touchIntervalMs) return
  await store.write((tx) => touchSession(tx, hashToken(token), nowMs))
}

/** Only the playground receives images. All other request bodies are small. */
const bodyBytesMaxDefault = 64 * 1024
/** A name, a password and a token, even if each character is escaped. */
const anonymousBodyBytesMax = 8 * 1024

type UnreadRequest = Pick<ConsoleContext, 'request' | 'identity' | 'services'>

async function readCall(route: ConsoleRoute, unread: UnreadRequest): Promise<ConsoleContext> {
  const { request } = unread
  requireValidParameters(request)
  const query = parseInput(route.query, Object.fromEntries(request.query), 'query')
  const body = await readInput(route, unread)
  return { ...unread, query, body, pathParameters: request.pathParams }
}

async function readInput(route: ConsoleRoute, { request, identity, services }: UnreadRequest) {
  if (route.method === 'GET') return undefined
  if (route.body.def.type === 'undefined') return requireNoBody(request)
  const bodyBytesMax = bodyBytesMaxOf(route, services)
  request.body.accept(bodyOwnerOf(identity), bodyBytesMax)
  const body = await readJson(request, { bodyBytesMax, jsonLimits: services.jsonLimits })
  requireStorable(body, 'body')
  return parseInput(route.body, body, 'body')
}

/** Requests without a session do not count in the budget of an account. */
function bodyOwnerOf({ userId, accountId }: ConsoleIdentity): BodyOwner {
  if (userId === null) return { projectId: 'console anonymous', accountId: 'anonymous' }
  return { projectId: `console ${userId}`, accountId }
}

function bodyBytesMaxOf(route: ConsoleRoute, services: ConsoleServices): number {
  if (route.minimumRole === 'anonymous') return anonymousBodyBytesMax
  return route.path === '/playground' ? services.bodyBytesMax : bodyBytesMaxDefault
}

async function runRoute(route: ConsoleRoute, call: ConsoleContext): Promise<HttpResponse> {
  if ('rows' in route)
    return toCsvResponse(
      route.path,
      await createCsvStream(route.columns, authorizedRows(route, call)),
    )
  if ('readFile' in route) return toFileResponse(await route.readFile(call))
  if (route.method !== 'GET') return executeWrite(route, call)
  const read = () => route.handle(whileConnected(call))
  const value = await (route.isLong === true ? queueRead(call, read) : read())
  return { status: 200, body: await parseResponse(route.response, value) }
}

/** Returns a call whose reads end with 499 as soon as its client has left. Many lists are read in steps. */
function whileConnected(call: ConsoleContext): ConsoleContext {
  const { store } = call.services
  const read: typeof store.read = async (job) => {
    call.request.signal.throwIfAborted()
    return store.read(job)
  }
  return { ...call, services: { ...call.services, store: { ...store, read } } }
}

/**
 * Authorizes a download again after each page of its list.
 *
 * @throws HttpError 401 or 403, which ends the download, as soon as its user may not read it.
 */
async function* authorizedRows(route: CsvRoute, call: ConsoleContext) {
  let count = 0
  await ownTurn()
  for await (const row of route.rows(whileConnected(call))) {
    count += 1
    if (count % csvPageRows === 0) {
      // SQLite and a fast client need no turn of the event loop: the whole file would be one.
      await ownTurn()
      await call.services.store.read((tx) => authorizeAgain(tx, route, call))
    }
    yield row
  }
}

function toCsvResponse(path: string, body: unknown): HttpResponse {
  const file = path.replaceAll(/^.*\/|[^a-z.-]/gu, '')
  const disposition = `attachment; filename="facegate-${file}"`
  const headers = { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': disposition }
  return { status: 200, headers, body }
}

/** Like all responses, a file is not stored; `private` also excludes proxies that ignore `no-store`. */
function toFileResponse({ contentType, bytes }: FileContent): HttpResponse {
  const headers = { 'content-type': contentType, 'cache-control': 'private, no-store' }
  return { status: 200, headers, body: bytes }
}

const consoleErrorFormat: ErrorFormat = {
  statuses: errorStatuses.console,
  toBody: ({ message }) => ({ detail: message }),
}

function toErrorResponse(error: unknown, requestId: string, { log }: ConsoleServices) {
  if (error instanceof ValidationError)
    return { status: error.status, body: { detail: error.message, problems: error.problems } }
  if (error instanceof LedgerError) return { status: 409, body: { detail: error.message } }
  return errorResponse(error, requestId, log, consoleErrorFormat)
}

/**
 * Runs a write route. The change and its audit entry are committed together or not at all. The writes
 * of an account run one after another, so the authority of the user cannot change within one.
 */
async function executeWrite(route: WriteRoute, received: ConsoleContext): Promise<HttpResponse> {
  const { store } = received.services
  const prepareCall =
    route.prepare && (await store.read((tx) => authorizeAgain(tx, route, received)))
  const prepared = prepareCall && (await route.prepare?.(prepareCall))
  const doneCall = route.isDoneByPrepare ? prepareCall : undefined
  const accountId = route.accountOf?.(prepared) ?? received.identity.accountId
  const result = await store.runExclusive(async (transaction) => {
    const call = doneCall ?? (await authorizeAgain(transaction.tx, route, received))
    const written = await route.handle({ ...call, prepared }, transaction)
    await addAuditEntry(transaction.tx, toAuditEntry(route, call, written))
    return written
  }, accountId)
  await result.afterCommit?.()
  const { headers = {}, response } = result
  return { status: 200, headers, body: route.response.parse(response) ?? { ok: true } }
}

/** Returns the entry of a change in the audit log. */
export function toAuditEntry(
  { auditAction }: Pick<WriteRoute, 'auditAction'>,
  { identity, services, request }: ConsoleContext,
  { target, detail = {}, actor = identity }: Omit<WriteResult<unknown>, 'response'>,
) {
  const { userId, name: userName, accountId } = actor
  const entry = { accountId, atMs: services.clock(), userId, userName, auditAction, target }
  return { ...entry, detail: JSON.stringify(detail), ip: request.clientIp }
}
