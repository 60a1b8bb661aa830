import { z } from 'zod'
import { invalidRequest, problemsMax } from '../errors.ts'
import { closestName } from './closest-name.ts'
import { describeRule, describeValue } from './describe-rule.ts'
import { type RuleSchema, acceptsNull, childNode, resolveNode } from './json-schema.ts'

/** One invalid field: where it is, which rule it violates, and what to change. */
export type InputProblem = {
  /** JSON path, such as `params.images[1].bytes`. */
  readonly path: string
  /** The rule and what was received instead. */
  readonly rule: string
  /** One sentence: what to change. */
  readonly hint?: string
}

/** Returns a problem as one line, for responses without separate fields. */
function toMessage({ path, rule, hint }: InputProblem): string {
  return hint === undefined ? `${path}: ${rule}` : `${path}: ${rule}. ${hint.replace(/\.$/u, '')}`
}

type DescribedInput = {
  /** The schema of the whole input, as JSON Schema. */
  readonly schema: RuleSchema
  readonly input: unknown
  /** The first part of every path. */
  readonly root: string
}

/**
 * Describes an issue of the validator by the schema of its field. Only messages that start with "must"
 * are used unchanged: a schema of the service states them. Each unknown field is one problem.
 */
function describeIssue(issue: z.core.$ZodIssue, { schema, input, root }: DescribedInput) {
  const isItemMissing = typeof issue.path.at(-1) === 'number' && isMissing(issue, input)
  // An item that a list requires and does not have is a fault of the list.
  if (isItemMissing)
    return describeIssue({ ...issue, path: issue.path.slice(0, -1) }, { schema, input, root })
  const path = issue.path.reduce<string>(appendStep, root)
  const node = issue.path.reduce<RuleSchema>(
    (parent, step) => childNode(parent, step, schema),
    resolveNode(schema, schema),
  )
  const sent = issue.path.reduce(valueAt, input)
  const isNumber = node.type === 'integer' || node.type === 'number'
  const value = root === 'query' && isNumber ? toNumber(sent) : sent
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key, index) =>
      index < problemsMax
        ? describeUnknownField(key, path, node)
        : { path: appendStep(path, key), rule: 'unknown field' },
    )
  const isStated = issue.message.startsWith('must ')
  const rule =
    isStated && (value === undefined || describesText(issue, value))
      ? issue.message
      : describeRule(node, schema)
  if (isMissing(issue, input)) return [{ path, rule: `missing; ${rule}` }]
  const isComplete = isStated && !Array.isArray(value) && describesText(issue, value)
  const received = isComplete ? '' : `; received ${describeValue(value, node)}`
  return [{ path, rule: `${rule}${received}`, ...hintOf(issue, value, node) }]
}

/** A stated message describes the content of a value, so it is used if the type is correct. */
function describesText(issue: z.core.$ZodIssue, value: unknown): boolean {
  return issue.code !== 'invalid_type' || typeof value === 'string'
}

/** A part of a text, such as one name of a list in a query, is not a field of the input. */
function isMissing({ path }: z.core.$ZodIssue, input: unknown): boolean {
  const parent = path.slice(0, -1).reduce(valueAt, input)
  return typeof parent !== 'string' && path.reduce(valueAt, input) === undefined
}

/** The numbers of a query are texts. */
function toNumber(value: unknown): unknown {
  const isNumber =
    typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))
  return isNumber ? Number(value) : value
}

function describeUnknownField(key: string, parentPath: string, parent: RuleSchema): InputProblem {
  const names = Object.keys(parent.properties ?? {})
  const closest = closestName(key, names) ?? sameLastWord(key, names)
  const path = appendStep(parentPath, key)
  const allowed = names.length > 0 ? `the fields are ${names.join(', ')}` : 'no fields are allowed'
  // A schema can state what replaces a field.
  const stated = valueAt(parent['x-hints'], key)
  const derived =
    closest === undefined
      ? 'Remove the field; check whether it belongs to another object.'
      : `Rename it to ${closest}.`
  const hint = typeof stated === 'string' ? stated : derived
  return { path, rule: `unknown field; ${allowed}`, hint }
}

/** Returns the name that a longer name ends with: `threshold` for `livenessThreshold`. */
function sameLastWord(typed: string, names: readonly string[]): string | undefined {
  const lastWord = /[A-Z][a-z]+$/u.exec(typed)?.[0].toLowerCase()
  return names.find((name) => name === lastWord)
}

/** The characters of an unknown name in a message. */
const nameCharsMax = 64

/** Appends a step to a JSON path: `[1]`, `.name`, or `["a name"]` if it is no identifier. */
export function appendStep(path: string, step: PropertyKey): string {
  if (typeof step === 'number') return `${path}[${step}]`
  const name = String(step).slice(0, nameCharsMax)
  return /^[\w$-]+$/u.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
}

function valueAt(parent: unknown, step: PropertyKey): unknown {
  if (typeof parent !== 'object' || parent === null) return undefined
  return Object.hasOwn(parent, step) ? (parent as Record<PropertyKey, unknown>)[step] : undefined
}

function hintOf(issue: z.core.$ZodIssue, value: unknown, node: RuleSchema) {
  const hint: unknown = issue.code === 'custom' ? issue.params?.['hint'] : undefined
  if (typeof hint === 'string') return { hint }
  const suggestion = suggestValue(value, node)
  return suggestion === undefined ? {} : { hint: suggestion }
}

function suggestValue(value: unknown, node: RuleSchema): string | undefined {
  const { type } = node
  if (type === 'array' && typeof value === 'object' && value !== null && !Array.isArray(value))
    return 'Put the object in a list, also if there is only one.'
  if (typeof value !== 'string') return undefined
  if (type === 'array') return 'Put the text in a list, also if there is only one.'
  const isQuotedNumber = value.trim() !== '' && Number.isFinite(Number(value))
  const acceptsNumber = [node, ...(node.anyOf ?? [])].some(
    (branch) => branch.type === 'number' || branch.type === 'integer',
  )
  if (acceptsNumber && isQuotedNumber) return 'Send a number without quotes.'
  if (type === 'boolean' && ['true', 'false'].includes(value))
    return `Send ${value} without quotes.`
  const names = (node.enum ?? []).filter((name) => typeof name === 'string')
  const closest = closestName(value, names)
  return closest === undefined || closest === value ? undefined : `Did you mean "${closest}"?`
}

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
  // The validator reports an empty list as two issues of a text: its type and its length.
  const byRule = new Map(listed.map((problem) => [`${problem.path} ${problem.rule}`, problem]))
  const problems = [...byRule.values()]
  const others = issues.slice(problemsMax).map((issue) => ('keys' in issue ? issue.keys.length : 1))
  return { success: false, problems, count: others.reduce((a, b) => a + b, problems.length) }
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
  throw invalidRequest(problems.map(toMessage), { count })
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
