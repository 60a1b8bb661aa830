import { z } from 'zod'
import { describeIssue, type InputProblem } from './describe-issue.ts'
import { omitNulls } from './omit-nulls.ts'

export type ParsedInput<Output> =
  | { readonly success: true; readonly data: Output }
  | { readonly success: false; readonly problems: readonly InputProblem[] }

/**
 * Parses the input of a request. `null` for an optional field counts as absent, unless the schema gives
 * it a meaning. Every schema of the service is applied to requests by this function, so that no message
 * contains the text of the validator.
 *
 * @param root the location of the input, the first part of every path: `params`, `query` or `body`.
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  root: string,
): ParsedInput<z.output<Schema>> {
  const first = schema.safeParse(input)
  if (first.success) return first
  const jsonSchema = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const withoutNulls = omitNulls(input, jsonSchema)
  const second = schema.safeParse(withoutNulls)
  if (second.success) return second
  const described = { schema: jsonSchema, input: withoutNulls, root }
  const problems = second.error.issues.flatMap((issue) => describeIssue(issue, described))
  return { success: false, problems: problems.filter(isFirst) }
}

/** The validator reports an empty list as two issues of a text: its type and its length. */
function isFirst(problem: InputProblem, index: number, problems: readonly InputProblem[]): boolean {
  const isSame = ({ path, rule }: InputProblem): boolean =>
    path === problem.path && rule === problem.rule
  return problems.findIndex(isSame) === index
}
