import { z } from 'zod'
import type { HttpRequest } from '../../http/route.ts'
import type { ExclusiveTransaction } from '../../store/database.ts'
import type { ConsoleServices } from '../services.ts'
import type { ConsoleIdentity, AccessRole } from '../auth/identity.ts'

/**
 * A console route under `/console/v1`. Validation, role checks, audit entries and the types of the
 * browser code are derived from this record.
 */
type ConsoleRouteDefinition<
  Path extends RoutePath,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  ResponseSchema extends z.ZodType,
> = {
  /** `:name` marks a path parameter. */
  readonly path: Path
  /** The lowest role that may use the route. Higher roles may use it too. */
  readonly minimumRole: AccessRole
  readonly query: QuerySchema
  /** The JSON request body. */
  readonly body: BodySchema
  /** The JSON response body. */
  readonly response: ResponseSchema
}

export type RoutePath = `/${string}`

/** One console request as its route handler receives it: authorized and validated. */
export type ConsoleContext<Query = unknown, Body = unknown> = {
  readonly query: Query
  readonly body: Body
  readonly pathParameters: Readonly<Record<string, string>>
  readonly identity: ConsoleIdentity
  readonly services: ConsoleServices
  readonly request: HttpRequest
}

type ContextOf<QuerySchema extends z.ZodType, BodySchema extends z.ZodType> = ConsoleContext<
  z.output<QuerySchema>,
  z.output<BodySchema>
>

/** A response before it is validated, which removes fields that the schema does not contain. */
type InputOf<ResponseSchema extends z.ZodType> = ReadonlyDeep<z.input<ResponseSchema>>
type ReadonlyDeep<T> = T extends object ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> } : T

/** A route that changes nothing. */
export type ReadRoute<
  Path extends RoutePath = RoutePath,
  QuerySchema extends z.ZodType = z.ZodType,
  ResponseSchema extends z.ZodType = z.ZodType,
> = ConsoleRouteDefinition<Path, QuerySchema, z.ZodType, ResponseSchema> & {
  readonly method: 'GET'
  /** Whether it reads many rows. Such reads wait in the queue of the account. */
  readonly isLong?: boolean
  handle(call: ContextOf<QuerySchema, z.ZodType>): Promise<InputOf<ResponseSchema>>
}

/** The result of a write: its response and the content of its audit entry. */
export type WriteResult<ResponseBody> = {
  readonly response: ResponseBody
  /** The changed object: an id or a name. */
  readonly target: string
  /** The change as plain data. It never contains a secret. */
  readonly detail?: Readonly<Record<string, unknown>>
  /** The user behind the change, for routes that are called without a session. */
  readonly actor?: ConsoleIdentity
  readonly headers?: Readonly<Record<string, string>>
  /** Runs after the commit and before the response is sent. It must not fail. */
  readonly afterCommit?: () => Promise<void>
}

/** A route that changes data. Each successful request adds one audit entry. */
export type WriteRoute<
  Method extends WriteMethod = WriteMethod,
  Path extends RoutePath = RoutePath,
  QuerySchema extends z.ZodType = z.ZodType,
  BodySchema extends z.ZodType = z.ZodType,
  ResponseSchema extends z.ZodType = z.ZodType,
  Prepared = unknown,
> = ConsoleRouteDefinition<Path, QuerySchema, BodySchema, ResponseSchema> & {
  readonly method: Method
  /** The action name in the audit log, such as `key.create`. */
  readonly auditAction: string
  /** Does slow work before the transaction. It writes nothing that a failure would have to undo. */
  prepare?(call: ContextOf<QuerySchema, BodySchema>): Promise<Prepared>
  /**
   * Whether `prepare` makes the change, such as a call of the API with its own transaction. Its audit
   * entry is then written even if the user is disabled, demoted or signed out while it runs.
   */
  readonly isDoneByPrepare?: boolean
  /** The changed account, for routes that are called without a session. */
  accountOf?(prepared: Prepared): string
  /** Makes the change, in one transaction with its audit entry. */
  handle(
    call: ContextOf<QuerySchema, BodySchema> & { readonly prepared: Prepared },
    transaction: ExclusiveTransaction,
  ): Promise<WriteResult<InputOf<ResponseSchema>>>
}

export type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A list as CSV, streamed while it is read. */
export type CsvRoute = OtherRoute & {
  readonly columns: readonly string[]
  rows(call: ConsoleContext): AsyncIterable<Readonly<Record<string, unknown>>>
}

/** A route whose response is not JSON. It changes nothing. */
type OtherRoute = ConsoleRouteDefinition<RoutePath, z.ZodType, z.ZodType, z.ZodType> & {
  readonly method: 'GET'
}

/** A file that a route returns instead of JSON. It is never stored in a cache. */
export type FileContent = { readonly contentType: string; readonly bytes: Buffer }

/** A route that returns a file. */
export type FileRoute = OtherRoute & {
  readFile(call: ConsoleContext): Promise<FileContent>
}

export type ConsoleRoute = ReadRoute | WriteRoute | CsvRoute | FileRoute

/** The response body of a route, as the browser receives it. */
export type ResponseOf<Route> = Route extends { readonly response: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : never

/** The request body of a route, as the browser sends it. */
export type BodyOf<Route> = Route extends { readonly body: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : never

const emptyQuery = z.strictObject({})
const noContent = z.undefined()

type EmptyQuery = typeof emptyQuery
type NoContent = typeof noContent

/** The part of a definition that a route can omit: its schemas, and a role that is the usual one. */
type OptionalParts<QuerySchema, BodySchema, ResponseSchema> = {
  /** `viewer` for a route that changes nothing, `admin` for the others. */
  readonly minimumRole?: AccessRole
  readonly query?: QuerySchema
  readonly body?: BodySchema
  readonly response?: ResponseSchema
}

/** Keeps the schema types for the handler and for the browser code. */
export function defineRead<
  const Path extends RoutePath,
  ResponseSchema extends z.ZodType,
  QuerySchema extends z.ZodType = EmptyQuery,
>(
  path: Path,
  route: Omit<
    ReadRoute<Path, QuerySchema, ResponseSchema>,
    keyof typeof readDefaults | 'query' | 'path'
  > &
    Pick<OptionalParts<QuerySchema, never, never>, 'minimumRole' | 'query'>,
): ReadRoute<Path, QuerySchema, ResponseSchema> {
  const { query = emptyQuery } = route
  // The default of the type parameter is the type of the default schema.
  return { ...readDefaults, path, ...route, query: query as QuerySchema }
}

/** The parts that all routes without a change have in common. */
export const readDefaults = { method: 'GET', minimumRole: 'viewer', body: noContent } as const

/** Like `defineRead`, for a route without a query that returns a file. */
export function defineFile(path: RoutePath, readFile: FileRoute['readFile']): FileRoute {
  return { ...readDefaults, path, readFile, query: emptyQuery, response: noContent }
}

/** Like `defineRead`, for a route that changes data; its method is `POST` unless it states another. */
export function defineWrite<
  const Path extends RoutePath,
  const Method extends WriteMethod = 'POST',
  QuerySchema extends z.ZodType = EmptyQuery,
  BodySchema extends z.ZodType = NoContent,
  ResponseSchema extends z.ZodType = NoContent,
  Prepared = undefined,
>(
  path: Path,
  route: Omit<
    WriteRoute<Method, Path, QuerySchema, BodySchema, ResponseSchema, Prepared>,
    keyof OptionalParts<never, never, never> | 'method' | 'path'
  > &
    OptionalParts<QuerySchema, BodySchema, ResponseSchema> & { readonly method?: Method },
): WriteRoute<Method, Path, QuerySchema, BodySchema, ResponseSchema, Prepared> {
  const { query = emptyQuery, body = noContent, response = noContent, method = 'POST' } = route
  return {
    minimumRole: 'admin',
    path,
    ...route,
    // The default of each type parameter is the type of its default value.
    method: method as Method,
    query: query as QuerySchema,
    body: body as BodySchema,
    response: response as ResponseSchema,
  }
}
