import { LedgerError } from '../billing/ledger.ts'
import { readBody } from '../http/body.ts'
import type { Answer, Request, Route } from '../http/exchange.ts'
import { parseJson } from '../http/json.ts'
import { refusal } from '../http/refusal.ts'
import { ActionError, HttpError, type ActionErrorCode } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { inAccount } from '../lib/account.ts'
import { noted } from '../lib/trace.ts'
import { firstAccountId } from '../store/projects.ts'
import { touchSession } from '../store/sessions.ts'
import { csvStream } from './csv.ts'
import { Invalid, parsed } from './invalid.ts'
import type { ConsoleCall, ConsoleRoute } from './route.ts'
import { refuseForeign, refuseForged } from './same-origin.ts'
import type { ConsoleServices } from './services.ts'
import { hashToken, isAllowed, strangerOf, visitorOf, type Visitor } from './visitor.ts'
import { write } from './write.ts'

const consolePath = '/console/v1'

/** A route of the server: who asks, may they, is it well-formed, then the work. */
export function serveConsole(route: ConsoleRoute, services: ConsoleServices): Route {
  const { method } = route
  const handle = (request: Request) => answer(route, request, services)
  return { method, path: `${consolePath}${route.path}`, handle }
}

/** Nothing here is for other sites, for frames, or to be kept. */
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

async function answer(
  route: ConsoleRoute,
  request: Request,
  services: ConsoleServices,
): Promise<Answer> {
  try {
    if (route.method !== 'GET') refuseForeign(request)
    const visitor = await admit(route, request, services)
    const query = parsed(route.query, Object.fromEntries(request.query), 'query')
    const body = await bodyOf(route, request, services)
    const call = { query, body, parts: request.parts, visitor, services, request }
    const done = await forVisitor(route, visitor, () => work(route, call))
    return { ...done, headers: { ...headers, ...done.headers } }
  } catch (error) {
    const refused = refuse(error, services)
    return { ...refused, headers: { ...headers, ...refused.headers } }
  }
}

/** Who signs in may be of any account; whoever has, of one. */
function forVisitor<T>(route: ConsoleRoute, { accountId }: Visitor, does: () => T): T {
  return route.who === 'stranger' ? does() : inAccount(accountId, does)
}

/** @throws HttpError 401 for strangers where there must be none, 403 for too low a role. */
async function admit(
  route: ConsoleRoute,
  request: Request,
  services: ConsoleServices,
): Promise<Visitor> {
  const { store, clock, strangers } = services
  const known = await store.read((reading) => visitorOf(reading, request, clock()))
  const visitor = known ?? strangerOf((await firstAccountId(store.db)) ?? '')
  if (!known && route.who !== 'stranger') {
    const retryAfterS = await strangers.turnAway(request.clientIp)
    const wait = retryAfterS > 0 ? { 'retry-after': String(retryAfterS) } : {}
    throw new HttpError(401, 'Sign in first.', { headers: wait })
  }
  if (!isAllowed(visitor.role, route.who))
    throw new HttpError(403, `This needs the role ${route.who}.`)
  if (route.method !== 'GET' && route.who !== 'stranger') refuseForged(request, visitor)
  await noteUse(visitor, services)
  return visitor
}

/** A session's last use is written down once in so long. */
const touchMsMin = 60_000

async function noteUse({ token, lastSeenAtMs }: Visitor, { store, clock }: ConsoleServices) {
  const nowMs = clock()
  if (token === undefined || nowMs - lastSeenAtMs < touchMsMin) return
  await store.write((tx) => touchSession(tx, hashToken(token), nowMs))
}

/** Pictures come only to the playground; whatever else is sent is small. */
const smallBytesMax = 64 * 1024

async function bodyOf(route: ConsoleRoute, request: Request, services: ConsoleServices) {
  if (route.method === 'GET' || route.body.def.type === 'undefined') return undefined
  const bytesMax = route.path === '/playground' ? services.bodyBytesMax : smallBytesMax
  return parsed(route.body, parseJson(await readBody(request, bytesMax), services.json), 'body')
}

async function work(route: ConsoleRoute, call: ConsoleCall): Promise<Answer> {
  if ('rows' in route) return sheet(route.path, await csvStream(route.columns, route.rows(call)))
  if (route.method !== 'GET') return write(route, call)
  return { status: 200, body: route.answer.parse(await route.handle(call)) }
}

function sheet(path: string, body: unknown): Answer {
  const file = path
    .split('/')
    .at(-1)
    ?.replaceAll(/[^a-z.-]/gu, '')
  const disposition = `attachment; filename="facegate-${file}"`
  const type = { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': disposition }
  return { status: 200, headers: type, body }
}

/** What the codes of actions are called by HTTP; all others are questions that make no sense. */
const statuses: Partial<Record<ActionErrorCode, number>> = {
  SUBJECT_NOT_FOUND: 404,
  GROUP_NOT_FOUND: 404,
  EXTERNAL_ID_CONFLICT: 409,
}

function refuse(error: unknown, { log }: ConsoleServices): Answer {
  if (error instanceof Invalid)
    return { status: 422, body: { detail: error.message, problems: error.problems } }
  if (error instanceof ActionError)
    return { status: statuses[error.code] ?? 422, body: { detail: error.message } }
  if (error instanceof LedgerError) return { status: 409, body: { detail: `${error.message}.` } }
  return refusal(error, noted().requestId ?? newId(), log)
}
