import type { z } from 'zod'

/** Input that cannot be worked with, and what of it: HTTP 422. */
export class ValidationError extends Error {
  override readonly name = 'Invalid'
  readonly problems: readonly ValidationProblem[]

  constructor(problems: readonly ValidationProblem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('; '))
    this.problems = problems
  }
}

export type ValidationProblem = { readonly path: string; readonly message: string }

/** @throws Invalid that names everything that is wrong, by its place. */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: 'body' | 'query',
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ValidationError(result.error.issues.flatMap((issue) => toProblems(issue, place)))
}

function toProblems(issue: z.core.$ZodIssue, place: string): ValidationProblem[] {
  const path = [place, ...issue.path.map(String)].join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map((key) => ({ path: `${path}.${key.slice(0, 64)}`, message: 'is not known' }))
}
