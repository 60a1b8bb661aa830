import type { ServiceResponse, ServiceRequest } from './http/attempt.ts'
import type {
  CreateLivenessSessionBody,
  GetLivenessSessionQuery,
  LivenessSession,
  GroupDeletion,
  DeletionRecord,
  GetSubjectQuery,
  DeletionPage,
  ListDeletionsQuery,
  Group,
  GroupPage,
  ListGroupsQuery,
  Me,
  SubjectPage,
  ListSubjectsQuery,
  Subject,
} from './contract.ts'
import { invalidArgument, type FacegateErrorCode } from './facegate-error.ts'
import { errorFromResponse, isRecord } from './http/response-error.ts'
import { toJson } from './http/to-json.ts'
import type { CallOptions } from './options.ts'

type RouteOptions = Omit<CallOptions, 'requestId' | 'debug'>

/** The routes. They are free. A failure throws an error. */
export type Routes = {
  /** The key of the client: its project, permissions, limits, budget and prices. */
  readonly me: (options?: RouteOptions) => Promise<Me>
  readonly livenessSessions: {
    /**
     * Creates a session: movements that a person shows to the camera, in up to three attempts of 120 s.
     * A browser sends the frames with its `sessionToken`, or your server with `sendLivenessFrames`.
     */
    readonly create: (
      body?: CreateLivenessSessionBody,
      options?: RouteOptions,
    ) => Promise<LivenessSession>
    /** @throws FacegateError LIVENESS_SESSION_NOT_FOUND. */
    readonly get: (
      sessionId: string,
      query?: GetLivenessSessionQuery,
      options?: RouteOptions,
    ) => Promise<LivenessSession>
  }
  readonly subjects: {
    /** Every subject that matches the query, by default oldest first. Pages are fetched as needed. */
    readonly list: (
      query?: Omit<ListSubjectsQuery, 'cursor'>,
      options?: RouteOptions,
    ) => AsyncIterable<Subject>
    /** One page and the cursor of the next one. */
    readonly page: (query?: ListSubjectsQuery, options?: RouteOptions) => Promise<SubjectPage>
    /** @throws FacegateError SUBJECT_NOT_FOUND. */
    readonly get: (
      subjectId: string,
      query?: GetSubjectQuery,
      options?: RouteOptions,
    ) => Promise<Subject>
  }
  readonly groups: {
    /** Every group, by name. */
    readonly list: (
      query?: Omit<ListGroupsQuery, 'cursor'>,
      options?: RouteOptions,
    ) => AsyncIterable<Group>
    readonly page: (query?: ListGroupsQuery, options?: RouteOptions) => Promise<GroupPage>
    /**
     * Deletes every subject of the group permanently; with `dryRun` it only counts them. It is not
     * retried when the connection breaks: `deletions.list` returns what was deleted.
     *
     * @throws FacegateError GROUP_NOT_FOUND.
     */
    readonly delete: (
      name: string,
      query?: { readonly dryRun?: boolean | undefined },
      options?: RouteOptions,
    ) => Promise<GroupDeletion>
  }
  readonly deletions: {
    /** Every deletion record that matches the query, by default newest first. */
    readonly list: (
      query?: Omit<ListDeletionsQuery, 'cursor'>,
      options?: RouteOptions,
    ) => AsyncIterable<DeletionRecord>
    readonly page: (query?: ListDeletionsQuery, options?: RouteOptions) => Promise<DeletionPage>
  }
}

type SendRequest = <Value>(
  request: ServiceRequest<Value>,
  options: CallOptions | undefined,
) => Promise<Value>

/** An invalid argument rejects the promise, as any other failure does. */
type SendRoute = <Value>(request: RouteRequest, options: RouteOptions | undefined) => Promise<Value>

type RouteRequest = {
  readonly method: 'GET' | 'DELETE' | 'POST'
  /** The path as in the documentation: `/v1/subjects/{subjectId}`. */
  readonly route: string
  /** Replaces the part in braces. */
  readonly pathParam?: string
  readonly query?: object | undefined
  readonly body?: object
  /** A field of every response; `items` is a list. */
  readonly field: string
  readonly notFoundCode?: FacegateErrorCode
}

export function createRoutes(send: SendRequest): Routes {
  const sendTo: SendRoute = async (route, options) => send(serviceRequestOf(route), options)
  const subjectPage: Routes['subjects']['page'] = (query, options) =>
    sendTo({ method: 'GET', route: '/v1/subjects', query, field: 'items' }, options)
  const groupPage: Routes['groups']['page'] = (query, options) =>
    sendTo({ method: 'GET', route: '/v1/groups', query, field: 'items' }, options)
  const deletionPage: Routes['deletions']['page'] = (query, options) =>
    sendTo({ method: 'GET', route: '/v1/deletions', query, field: 'items' }, options)
  return {
    me: (options) => sendTo({ method: 'GET', route: '/v1/me', field: 'keyId' }, options),
    livenessSessions: livenessSessionRoutes(sendTo),
    subjects: {
      list: (query, options) =>
        iterateItems((cursor) => subjectPage({ ...query, cursor }, options)),
      page: subjectPage,
      get: (subjectId, query, options) => {
        const route = '/v1/subjects/{subjectId}'
        const responses = { field: 'subjectId', notFoundCode: 'SUBJECT_NOT_FOUND' } as const
        return sendTo({ method: 'GET', route, pathParam: subjectId, query, ...responses }, options)
      },
    },
    groups: {
      list: (query, options) => iterateItems((cursor) => groupPage({ ...query, cursor }, options)),
      page: groupPage,
      delete: (name, query, options) => {
        const route = '/v1/groups/{name}'
        const responses = { field: 'deletedCount', notFoundCode: 'GROUP_NOT_FOUND' } as const
        return sendTo({ method: 'DELETE', route, pathParam: name, query, ...responses }, options)
      },
    },
    deletions: {
      list: (query, options) =>
        iterateItems((cursor) => deletionPage({ ...query, cursor }, options)),
      page: deletionPage,
    },
  }
}

function livenessSessionRoutes(sendTo: SendRoute): Routes['livenessSessions'] {
  return {
    create: ({ requestId = crypto.randomUUID(), ...body } = {}, options) => {
      const route = '/v1/liveness/sessions'
      const sent = { ...body, requestId }
      return sendTo({ method: 'POST', route, body: sent, field: 'sessionId' }, options)
    },
    get: (sessionId, query, options) => {
      const request: RouteRequest = {
        method: 'GET',
        route: '/v1/liveness/sessions/{sessionId}',
        pathParam: sessionId,
        query,
        field: 'sessionId',
        notFoundCode: 'LIVENESS_SESSION_NOT_FOUND',
      }
      return sendTo(request, options)
    },
  }
}

type RoutePage<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

async function* iterateItems<Item>(
  getPage: (cursor: string | undefined) => Promise<RoutePage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined
  do {
    const page: RoutePage<Item> = await getPage(cursor)
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

function serviceRequestOf<Value>({
  method,
  route,
  pathParam,
  query,
  body,
  field,
  notFoundCode,
}: RouteRequest): ServiceRequest<Value> {
  const path = route.replace(/\{\w+\}/u, () => encodePathSegment(pathParam))
  return {
    method,
    path: path + queryString(query),
    ...(body && { body: toJson(body) }),
    operation: `${method} ${route}`,
    // Repeating a completed deletion would return GROUP_NOT_FOUND. A session has a requestId.
    retryPolicy: method === 'DELETE' ? 'ifRejected' : 'always',
    // The service validates every response against the schemas that generate these types.
    parse: (response) => bodyOf(response, field, notFoundCode) as Value,
  }
}

/** @throws FacegateError INVALID_ARGUMENT if the text would change the path, or cannot be part of it. */
function encodePathSegment(text: string | undefined): string {
  if (text === undefined || /^\.{0,2}$|\p{Surrogate}/u.test(text))
    throw invalidArgument(`${JSON.stringify(text)} is not a valid id or name`)
  return encodeURIComponent(text)
}

function queryString(query: object = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) params.set(name, String(value))
  const text = params.toString()
  return text && `?${text}`
}

/** @throws FacegateError if the response is a failure, or without the field not from the service. */
function bodyOf(
  response: ServiceResponse,
  field: string,
  notFoundCode: FacegateErrorCode | undefined,
): object {
  const { status, body } = response
  const value = isRecord(body) ? body[field] : undefined
  const isExpected = field === 'items' ? Array.isArray(value) : value !== undefined
  if (status !== 200 || !isRecord(body) || !isExpected)
    throw errorFromResponse(response, notFoundCode)
  return body
}
