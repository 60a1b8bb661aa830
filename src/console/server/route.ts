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
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  ResponseSchema extends z.ZodType,
> = {
  /** `:name` marks a path parameter. */
  readonly path: `/${string}`
  /** The lowest role that may use the route. Higher roles may use it too. */
  readonly minimumRole: AccessRole
  readonly query: QuerySchema
  /** The JSON request body; `emptyBody` if the route has none. */
  readonly body: BodySchema
  /** The JSON response body. */
  readonly response: ResponseSchema
}

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

/** A route that changes nothing. */
export type ReadRoute<
  QuerySchema extends z.ZodType = z.ZodType,
  ResponseSchema extends z.ZodType = z.ZodType,
> = ConsoleRouteDefinition<QuerySchema, z.ZodType, ResponseSchema> & {
  readonly method: 'GET'
  handle(call: ContextOf<QuerySchema, z.ZodType>): Promise<z.input<ResponseSchema>>
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
  QuerySchema extends z.ZodType = z.ZodType,
  BodySchema extends z.ZodType = z.ZodType,
  ResponseSchema extends z.ZodType = z.ZodType,
  Prepared = unknown,
> = ConsoleRouteDefinition<QuerySchema, BodySchema, ResponseSchema> & {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The action name in the audit log, such as `key.create`. */
  readonly auditAction: string
  /** Does slow work before the transaction. It writes nothing that a failure would have to undo. */
  prepare?(call: ContextOf<QuerySchema, BodySchema>): Promise<Prepared>
  /** Makes the change, in one transaction with its audit entry. */
  handle(
    call: ContextOf<QuerySchema, BodySchema> & { readonly prepared: Prepared },
    transaction: ExclusiveTransaction,
  ): Promise<WriteResult<z.input<ResponseSchema>>>
}

/** A list as CSV, streamed while it is read. */
export type CsvRoute<QuerySchema extends z.ZodType = z.ZodType> = ConsoleRouteDefinition<
  QuerySchema,
  z.ZodType,
  z.ZodType
> & {
  readonly method: 'GET'
  readonly columns: readonly string[]
  rows(call: ContextOf<QuerySchema, z.ZodType>): AsyncIterable<Readonly<Record<string, unknown>>>
}

/** A file that a route returns instead of JSON. It is never stored in a cache. */
export type FileContent = { readonly contentType: string; readonly bytes: Buffer }

/** A route that returns a file and changes nothing. */
export type FileRoute = ConsoleRouteDefinition<z.ZodType, z.ZodType, z.ZodType> & {
  readonly method: 'GET'
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

export const emptyBody = z.undefined()
export const emptyQuery = z.strictObject({})

/** Keeps the schema types for the handler and for the browser code. */
export function defineRead<QuerySchema extends z.ZodType, ResponseSchema extends z.ZodType>(
  route: Omit<ReadRoute<QuerySchema, ResponseSchema>, 'method' | 'body'>,
): ReadRoute<QuerySchema, ResponseSchema> {
  return { ...route, method: 'GET', body: emptyBody }
}

/** Like `defineRead`, for a route without a query that returns a file. */
export function defineFile(route: Pick<FileRoute, 'path' | 'minimumRole' | 'readFile'>): FileRoute {
  return { ...route, method: 'GET', query: emptyQuery, body: emptyBody, response: z.undefined() }
}

/** Like `defineRead`, for a route that changes data. */
export function defineWrite<
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
  ResponseSchema extends z.ZodType,
  Prepared = undefined,
>(
  route: WriteRoute<QuerySchema, BodySchema, ResponseSchema, Prepared>,
): WriteRoute<QuerySchema, BodySchema, ResponseSchema, Prepared> {
  return route
}
