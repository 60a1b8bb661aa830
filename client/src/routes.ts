import type { ServiceResponse, ServiceRequest } from './http/attempt.ts'
import type {
  GroupDeletion,
  DeletionRecord,
  GetSubjectQuery,
  DeletionPage,
  ListDeletionsQuery,
  GroupList,
  SubjectPage,
  ListSubjectsQuery,
  Subject,
} from './contract.ts'
import type { FacegateErrorCode } from './facegate-error.ts'
import { errorFromResponse, isRecord } from './http/response-error.ts'
import type { CallOptions } from './options.ts'

type RouteOptions = Omit<CallOptions, 'requestId' | 'debug'>

/** What the gallery holds. Free of charge; failures are thrown. */
export type Routes = {
  readonly subjects: {
    /** Every subject that fits, in the order of enrolment; pages are fetched as they are needed. */
    readonly list: (
      query?: Omit<ListSubjectsQuery, 'cursor'>,
      options?: RouteOptions,
    ) => AsyncIterable<Subject>
    /** One page, for those who page themselves. */
    readonly page: (query?: ListSubjectsQuery, options?: RouteOptions) => Promise<SubjectPage>
    /** @throws FacegateError SUBJECT_NOT_FOUND. */
    readonly get: (
      subjectId: string,
      query?: GetSubjectQuery,
      options?: RouteOptions,
    ) => Promise<Subject>
  }
  readonly groups: {
    readonly list: (options?: RouteOptions) => Promise<GroupList['items']>
    /**
     * Deletes every subject of the group for ever; with `dryRun` it only counts them. When the
     * connection breaks it is not sent again by itself: `deletions.list` tells what was done.
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
    /** Every deletion record that fits, the newest first. */
    readonly list: (
      query?: Omit<ListDeletionsQuery, 'cursor'>,
      options?: RouteOptions,
    ) => AsyncIterable<DeletionRecord>
    readonly page: (query?: ListDeletionsQuery, options?: RouteOptions) => Promise<DeletionPage>
  }
}

type SendRequest = <Value>(
  exchange: ServiceRequest<Value>,
  options: CallOptions | undefined,
) => Promise<Value>

type RouteRequest = {
  readonly method: 'GET' | 'DELETE'
  /** As the documentation writes it: `/v1/subjects/{subjectId}`. */
  readonly route: string
  /** What stands in place of the part in braces. */
  readonly pathParam?: string
  readonly query?: object | undefined
  readonly notFoundCode?: FacegateErrorCode
}

export function createRoutes(ask: SendRequest): Routes {
  const go = <Value>(place: RouteRequest, options: RouteOptions | undefined) =>
    ask<Value>(serviceRequestOf(place), options)
  const subjectPage: Routes['subjects']['page'] = (query, options) =>
    go({ method: 'GET', route: '/v1/subjects', query }, options)
  const deletionPage: Routes['deletions']['page'] = (query, options) =>
    go({ method: 'GET', route: '/v1/deletions', query }, options)
  return {
    subjects: {
      list: (query, options) =>
        iterateItems((cursor) => subjectPage({ ...query, cursor }, options)),
      page: subjectPage,
      get: (part, query, options) => {
        const route = '/v1/subjects/{subjectId}'
        return go(
          { method: 'GET', route, pathParam: part, query, notFoundCode: 'SUBJECT_NOT_FOUND' },
          options,
        )
      },
    },
    groups: {
      list: async (options) => {
        const page = await go<GroupList>({ method: 'GET', route: '/v1/groups' }, options)
        return page.items
      },
      delete: (part, query, options) => {
        const route = '/v1/groups/{name}'
        return go(
          { method: 'DELETE', route, pathParam: part, query, notFoundCode: 'GROUP_NOT_FOUND' },
          options,
        )
      },
    },
    deletions: {
      list: (query, options) =>
        iterateItems((cursor) => deletionPage({ ...query, cursor }, options)),
      page: deletionPage,
    },
  }
}

type RoutePage<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

async function* iterateItems<Item>(
  pageAt: (cursor: string | undefined) => Promise<RoutePage<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined
  do {
    const page: RoutePage<Item> = await pageAt(cursor)
    yield* page.items
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

function serviceRequestOf<Value>({
  method,
  route,
  pathParam: part,
  query,
  notFoundCode: notFound,
}: RouteRequest): ServiceRequest<Value> {
  const path = part === undefined ? route : route.replace(/\{\w+\}/u, () => encodePathSegment(part))
  return {
    method,
    path: path + queryString(query),
    operation: `${method} ${route}`,
    // A deletion that was done and is sent again would be answered that there is no such group.
    retryPolicy: method === 'GET' ? 'always' : 'refused',
    // The service checks every answer against the schemas that these types are made of.
    parse: (answer) => bodyOf(answer, notFound) as Value,
  }
}

/** @throws TypeError for what would not stay a part of the path. */
function encodePathSegment(part: string): string {
  if (part === '' || part === '.' || part === '..')
    throw new TypeError(`${JSON.stringify(part)} is no id or name`)
  return encodeURIComponent(part)
}

function queryString(query: object = {}): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) given.set(name, String(value))
  const text = given.toString()
  return text && `?${text}`
}

function bodyOf(answer: ServiceResponse, notFound: FacegateErrorCode | undefined): object {
  if (answer.status !== 200 || !isRecord(answer.body)) throw errorFromResponse(answer, notFound)
  return answer.body
}
