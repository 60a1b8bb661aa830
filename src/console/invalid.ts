import type { z } from 'zod'

/** Input that cannot be worked with, and what of it: HTTP 422. */
export class Invalid extends Error {
  override readonly name = 'Invalid'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('; '))
    this.problems = problems
  }
}

export type Problem = { readonly path: string; readonly message: string }

/** @throws Invalid that names everything that is wrong, by its place. */
export function parsed<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  place: 'body' | 'query',
): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new Invalid(result.error.issues.flatMap((issue) => problemsOf(issue, place)))
}

function problemsOf(issue: z.core.$ZodIssue, place: string): Problem[] {
  const path = [place, ...issue.path.map(String)].join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  return issue.keys.map((key) => ({ path: `${path}.${key.slice(0, 64)}`, message: 'is not known' }))
}
