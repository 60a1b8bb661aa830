import { z } from 'zod'
import { toComposed, utcTime as utcTimeText } from '../../actions/schemas/fields.ts'
import { dayMs, hourMs, weekMs } from '../../lib/clock.ts'
import { HttpError, limitProblems } from '../../lib/errors.ts'
import { parseInput as parseFields } from '../../lib/validation/describe-issue.ts'
import { namePattern } from '../../lib/validation/text-forms.ts'
import { findUser } from '../../store/console/users.ts'
import type { ReadTx } from '../../store/database.ts'
import { findCall } from '../../store/gate/calls.ts'
import { findProjectNames, findProjectSummaries } from '../../store/tenancy/project-summaries.ts'

/** Schema parts that several pages share, and the validation of what clients send. */

/**
 * Millionths of the currency as a decimal integer in text: a JSON number would be rounded. Sums of
 * amounts can have more than the 19 digits of the largest amount.
 */
export const micros = z.string().regex(/^-?\d{1,30}$/u, 'must be a whole number of millionths')

export const id = z.guid('must be a UUID')

export const utcTime = utcTimeText.transform((text) => new Date(text))

/** A name, in Unicode NFC. */
export const name = z
  .string()
  .trim()
  .overwrite(toComposed)
  .min(1)
  .max(128)
  .regex(namePattern, 'must not contain control or invisible characters')

/** The lengths of the periods that end now. */
const periodMs = { '1h': hourMs, '24h': dayMs, '7d': weekMs, '30d': 30 * dayMs }

/** A period that ends now, so that a list with it stays current. */
export const period = z.enum(['1h', '24h', '7d', '30d']).optional()

/** `fromUtc` is included, `toUtc` is excluded. A period replaces both. */
export const timeRange = { fromUtc: utcTime.optional(), toUtc: utcTime.optional(), period }

export type RequestedTimes = z.output<z.ZodObject<typeof timeRange>>

/**
 * Returns the start and the end of a range in a query.
 *
 * @throws ValidationError if the query has a period and one of both times.
 */
export function resolveTimeRange({ fromUtc, toUtc, period }: RequestedTimes, nowMs: number) {
  if (period === undefined) return { fromUtc, toUtc }
  if (fromUtc ?? toUtc)
    throw invalidField('query.period', 'must not be combined with a start or an end time')
  return { fromUtc: new Date(nowMs - periodMs[period]), toUtc: undefined }
}

export const count = z.int().min(0)

/** Invalid input, with a list of its problems. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError'
  readonly problems: readonly ValidationProblem[]
  /** 409: the input is valid, but the stored data conflicts with it. */
  readonly status: 422 | 409

  constructor(problems: readonly ValidationProblem[], status: 422 | 409 = 422) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('; '))
    this.problems = problems
    this.status = status
  }
}

type ValidationProblem = { readonly path: string; readonly message: string }

/** Returns the error of one field, for rules that the schema does not contain. */
export function invalidField(path: string, message: string, status?: 409): ValidationError {
  return new ValidationError([{ path, message }], status)
}

/** Requires the beginning of an id as confirmation. @throws ValidationError. */
export function requireConfirmedId(confirm: string, id: string, name: string): void {
  if (confirm.toLowerCase() !== id.slice(0, 8))
    throw invalidField('body.confirm', `must repeat the first 8 characters of the ${name}`)
}

/** Requires the name of a project as confirmation. @throws ValidationError. */
export function requireConfirmedName(project: { readonly name: string }, confirm: string): void {
  if (confirm !== project.name)
    throw invalidField('body.confirm', 'must repeat the name of the project')
}

/** @throws ValidationError that lists every problem with its path. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  location: 'body' | 'query',
): z.output<Schema> {
  const result = parseFields(schema, value, location)
  if (result.success) return result.data
  const problems = result.problems.map(({ path, rule, hint }) => ({
    path,
    message: hint === undefined ? rule : `${rule}. ${hint}`,
  }))
  throw new ValidationError(
    limitProblems(problems, result.count, (message) => ({ path: location, message })),
  )
}

/** The parameters of a path, and the account that owns what they name. */
export type AccountPath = {
  readonly pathParameters: Readonly<Record<string, string>>
  readonly identity: { readonly accountId: string }
}

/**
 * Returns the project in the path.
 *
 * @throws HttpError 404 when the account has no project with this id.
 */
export async function requireProject(tx: ReadTx, { pathParameters, identity }: AccountPath) {
  const { projectId = '' } = pathParameters
  const [project] =
    projectId === '' ? [] : await findProjectSummaries(tx, identity.accountId, projectId)
  if (!project) throw new HttpError(404, 'The account has no project with this id.')
  return project
}

/** Returns the user of the path parameter. @throws HttpError 404 if the account has no such user. */
export async function requireUser(tx: ReadTx, { pathParameters, identity }: AccountPath) {
  const user = await findUser(tx, pathParameters['userId'] ?? '')
  if (user?.accountId === identity.accountId) return user
  throw new HttpError(404, 'The account has no user with this id.')
}

/** Returns the call of the path parameter. @throws HttpError 404 if the log of the account has none. */
export async function requireCall(tx: ReadTx, { pathParameters, identity }: AccountPath) {
  const callId = Number(pathParameters['callId'])
  const call = Number.isSafeInteger(callId) ? await findCall(tx, callId) : undefined
  const projects = await findProjectNames(tx, identity.accountId)
  if (call && projects.some(({ projectId }) => projectId === call.projectId)) return call
  throw new HttpError(404, 'The request log has no call with this id.')
}
