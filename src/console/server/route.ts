import { z } from 'zod'
import type { HttpRequest } from '../../http/route.ts'
import type { ExclusiveTransaction } from '../../store/database.ts'
import type { ConsoleServices } from '../services.ts'
import type { ConsoleIdentity, AccessRole } from '../auth/identity.ts'

/** A route of the console under `/console/v1`. From its record come checks, audit and types. */
type ConsoleRouteDefinition<
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
> = {
  /** `:name` stands for a part of the path. */
  readonly path: `/${string}`
  /** Who may use it; those of higher roles may too. */
  readonly minimumRole: AccessRole
  readonly query: Query
  /** What is sent, JSON; `nothing` where nothing is. */
  readonly body: Body
  /** What is answered, JSON. */
  readonly response: Answer
}

/** One call of a route as its page sees it: who asks, what for, all of it checked. */
export type ConsoleContext<Query = unknown, Body = unknown> = {
  readonly query: Query
  readonly body: Body
  readonly pathParameters: Readonly<Record<string, string>>
  readonly identity: ConsoleIdentity
  readonly services: ConsoleServices
  readonly request: HttpRequest
}

type ContextOf<Query extends z.ZodType, Body extends z.ZodType> = ConsoleContext<
  z.output<Query>,
  z.output<Body>
>

/** A route that changes nothing. */
export type ReadRoute<
  Query extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> = ConsoleRouteDefinition<Query, z.ZodType, Answer> & {
  readonly method: 'GET'
  handle(call: ContextOf<Query, z.ZodType>): Promise<z.input<Answer>>
}

/** What a write did: its answer, and its row in the audit. */
export type WriteResult<Answer> = {
  readonly response: Answer
  /** What was changed: an id or a name. */
  readonly target: string
  /** What of it, as plain data; never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>
  /** Who did it, where nobody was signed in before. */
  readonly actor?: ConsoleIdentity
  readonly headers?: Readonly<Record<string, string>>
  /** What follows the commit before the answer leaves. It must not fail. */
  readonly afterCommit?: () => Promise<void>
}

/** A route that changes something: each time it does, with one row in the audit. */
export type WriteRoute<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Prepared = unknown,
> = ConsoleRouteDefinition<Query, Body, Answer> & {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** What the audit calls it. */
  readonly auditAction: string
  /** What is slow, before the transaction; it writes nothing that a failure would have to undo. */
  prepare?(call: ContextOf<Query, Body>): Promise<Prepared>
  /** The change, in one transaction with its row in the audit. */
  handle(
    call: ContextOf<Query, Body> & { readonly prepared: Prepared },
    change: ExclusiveTransaction,
  ): Promise<WriteResult<z.input<Answer>>>
}

/** A list as CSV, sent as it is read. */
export type CsvRoute<Query extends z.ZodType = z.ZodType> = ConsoleRouteDefinition<
  Query,
  z.ZodType,
  z.ZodType
> & {
  readonly method: 'GET'
  readonly columns: readonly string[]
  rows(call: ContextOf<Query, z.ZodType>): AsyncIterable<Readonly<Record<string, unknown>>>
}

export type ConsoleRoute = ReadRoute | WriteRoute | CsvRoute

/** What a route answers, for the browser. */
export type ResponseOf<Route> = Route extends { readonly response: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : never

/** What a route takes, for the browser. */
export type BodyOf<Route> = Route extends { readonly body: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : never

export const noBody = z.undefined()
export const noQuery = z.strictObject({})

/** Keeps the types of the schemas, for the page itself and for the browser. */
export function defineRead<Query extends z.ZodType, Answer extends z.ZodType>(
  route: Omit<ReadRoute<Query, Answer>, 'method' | 'body'>,
): ReadRoute<Query, Answer> {
  return { ...route, method: 'GET', body: noBody }
}

/** As `defineRead`, for a route that changes something. */
export function defineWrite<
  Query extends z.ZodType,
  Body extends z.ZodType,
  Answer extends z.ZodType,
  Prepared = undefined,
>(route: WriteRoute<Query, Body, Answer, Prepared>): WriteRoute<Query, Body, Answer, Prepared> {
  return route
}
