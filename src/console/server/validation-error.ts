import type { z } from 'zod'
import { limitProblems } from '../../lib/errors.ts'
import { parseInput as parseFields } from '../../lib/validation/parse-input.ts'

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

export type ValidationProblem = { readonly path: string; readonly message: string }

/** Returns the error of one field, for rules that the schema does not contain. */
export function invalidField(path: string, message: string, status?: 409): ValidationError {
  return new ValidationError([{ path, message }], status)
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
