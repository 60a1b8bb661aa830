import type { z } from 'zod'

/** Invalid input, with a list of its problems. It becomes HTTP 422. */
export class ValidationError extends Error {
  override readonly name = 'ValidationError'
  readonly problems: readonly ValidationProblem[]

  constructor(problems: readonly ValidationProblem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('; '))
    this.problems = problems
  }
}

export type ValidationProblem = { readonly path: string; readonly message: string }

/** @throws ValidationError that lists every problem with its path. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  location: 'body' | 'query',
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ValidationError(result.error.issues.flatMap((issue) => toProblems(issue, location)))
}

function toProblems(issue: z.core.$ZodIssue, location: string): ValidationProblem[] {
  const path = [location, ...issue.path.map(String)].join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map((key) => ({
    path: `${path}.${key.slice(0, 64)}`,
    message: 'is not a known field',
  }))
}
