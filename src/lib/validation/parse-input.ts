import { z } from 'zod'
import { ActionError, problemsMax } from '../errors.ts'
import { describeIssue, toMessage, type InputProblem } from './describe-issue.ts'
import { acceptsNull, childNode, resolveNode, type RuleSchema } from './json-schema.ts'

type ParsedInput<Output> =
  | { readonly success: true; readonly data: Output }
  | {
      readonly success: false
      /** At least the first `problemsMax`. */
      readonly problems: readonly InputProblem[]
      /** The number of all problems. */
      readonly count: number
    }

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
  const { issues } = second.error
  const listed = issues.slice(0, problemsMax).flatMap((issue) => describeIssue(issue, described))
  const problems = withoutRepetitions(listed)
  const others = issues.slice(problemsMax).map((issue) => ('keys' in issue ? issue.keys.length : 1))
  return { success: false, problems, count: others.reduce((a, b) => a + b, problems.length) }
}

/** The validator reports an empty list as two issues of a text: its type and its length. */
function withoutRepetitions(problems: readonly InputProblem[]): InputProblem[] {
  const byRule = new Map(problems.map((problem) => [`${problem.path} ${problem.rule}`, problem]))
  return [...byRule.values()]
}

/** Parses the input like `parseInput`. @throws ActionError INVALID_REQUEST with one problem per field. */
export function requireValid<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  root: string,
): z.output<Schema> {
  const result = parseInput(schema, input, root)
  if (result.success) return result.data
  const { problems, count } = result
  throw new ActionError('INVALID_REQUEST', problems.map(toMessage), { count })
}

/**
 * Returns the input without the fields that are `null` although their schema has another type and does
 * not require them. Serializers of Java and C# write `null` for a field without a value.
 */
export function omitNulls(input: unknown, schema: RuleSchema): unknown {
  return hasNull(input) ? omitIn(input, resolveNode(schema, schema)) : input

  function omitIn(value: unknown, node: RuleSchema): unknown {
    if (Array.isArray(value))
      return value.map((item, index) => omitIn(item, childNode(node, index, schema)))
    if (typeof value !== 'object' || value === null || !node.properties) return value
    const fields = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
      const isKnown = Object.hasOwn(node.properties ?? {}, name)
      const child = isKnown ? childNode(node, name, schema) : {}
      const isOmitted =
        field === null && !node.required?.includes(name) && !acceptsNull(child, schema)
      return isOmitted ? [] : [[name, omitIn(field, child)]]
    })
    return Object.fromEntries(fields)
  }
}

/** Most inputs have none, and searching takes much less time than copying by the schema. */
function hasNull(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === null
  return Object.values(value).some(hasNull)
}
