import { z } from 'zod'
import type { Request } from '../http/exchange.ts'
import type { Change } from '../store/database.ts'
import type { ConsoleServices } from './services.ts'
import type { Visitor, Who } from './visitor.ts'

/** A route of the console under `/console/v1`. From its record come checks, audit and types. */
type Definition<Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType> = {
  /** `:name` stands for a part of the path. */
  readonly path: `/${string}`
  /** Who may use it; those of higher roles may too. */
  readonly who: Who
  readonly query: Query
  /** What is sent, JSON; `nothing` where nothing is. */
  readonly body: Body
  /** What is answered, JSON. */
  readonly answer: Answer
}

/** One call of a route as its page sees it: who asks, what for, all of it checked. */
export type ConsoleCall<Query = unknown, Body = unknown> = {
  readonly query: Query
  readonly body: Body
  readonly parts: Readonly<Record<string, string>>
  readonly visitor: Visitor
  readonly services: ConsoleServices
  readonly request: Request
}

type CallOf<Query extends z.ZodType, Body extends z.ZodType> = ConsoleCall<
  z.output<Query>,
  z.output<Body>
>

/** A route that changes nothing. */
export type ReadRoute<
  Query extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> = Definition<Query, z.ZodType, Answer> & {
  readonly method: 'GET'
  handle(call: CallOf<Query, z.ZodType>): Promise<z.input<Answer>>
}

/** What a write did: its answer, and its row in the audit. */
export type Written<Answer> = {
  readonly answer: Answer
  /** What was changed: an id or a name. */
  readonly target: string
  /** What of it, as plain data; never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>
  /** Who did it, where nobody was signed in before. */
  readonly by?: Visitor
  readonly headers?: Readonly<Record<string, string>>
  /** What follows the commit before the answer leaves. It must not fail. */
  readonly afterwards?: () => Promise<void>
}

/** A route that changes something: each time it does, with one row in the audit. */
export type WriteRoute<
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
  Prepared = unknown,
> = Definition<Query, Body, Answer> & {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** What the audit calls it. */
  readonly act: string
  /** What is slow, before the transaction; it writes nothing that a failure would have to undo. */
  prepare?(call: CallOf<Query, Body>): Promise<Prepared>
  /** The change, in one transaction with its row in the audit. */
  handle(
    call: CallOf<Query, Body> & { readonly prepared: Prepared },
    change: Change,
  ): Promise<Written<z.input<Answer>>>
}

/** A list as CSV, sent as it is read. */
export type SheetRoute<Query extends z.ZodType = z.ZodType> = Definition<
  Query,
  z.ZodType,
  z.ZodType
> & {
  readonly method: 'GET'
  readonly columns: readonly string[]
  rows(call: CallOf<Query, z.ZodType>): AsyncIterable<Readonly<Record<string, unknown>>>
}

export type ConsoleRoute = ReadRoute | WriteRoute | SheetRoute

/** What a route answers, for the browser. */
export type AnswerOf<Route> = Route extends { readonly answer: infer Schema extends z.ZodType }
  ? z.output<Schema>
  : never

/** What a route takes, for the browser. */
export type BodyOf<Route> = Route extends { readonly body: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : never

export const nothing = z.undefined()
export const noQuery = z.strictObject({})

/** Keeps the types of the schemas, for the page itself and for the browser. */
export function defineRead<Query extends z.ZodType, Answer extends z.ZodType>(
  route: Omit<ReadRoute<Query, Answer>, 'method' | 'body'>,
): ReadRoute<Query, Answer> {
  return { ...route, method: 'GET', body: nothing }
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
