import { UsageError, type ValueDeclaration, type ValueKind } from './command.ts'
import { anyText } from './command-line/value-kinds.ts'

/** An option without a value. */
export function flag(summary: string): ValueDeclaration<boolean> {
  return {
    summary,
    form: undefined,
    isRequired: false,
    isRepeatable: false,
    read: async (texts) => texts.length > 0,
  }
}

/** An option or an argument that may be absent. */
export function optional<Value>(
  form: string,
  summary: string,
  kind: ValueKind<Value>,
): ValueDeclaration<Value | undefined> {
  return {
    ...partsOf(form, summary, kind),
    read: async ([text], name) => (text === undefined ? undefined : readText(kind, text, name)),
  }
}

/** An option or an argument that must be given. */
export function required<Value>(
  form: string,
  summary: string,
  kind: ValueKind<Value>,
): ValueDeclaration<Value> {
  return {
    ...partsOf(form, summary, kind),
    isRequired: true,
    read: async ([text], name) => {
      if (text !== undefined) return readText(kind, text, name)
      throw new UsageError(
        name.startsWith('--')
          ? `${name} was not given; pass ${name} ${form}: ${summary}`
          : `${form} was not given: ${summary}`,
      )
    },
  }
}

/** An option that has a value even if it is absent. */
export function withDefault<Value>(
  form: string,
  summary: string,
  kind: ValueKind<Value> & { readonly default: string },
): ValueDeclaration<Value> {
  return {
    ...partsOf(form, summary, kind),
    default: kind.default,
    read: ([text = kind.default], name) => readText(kind, text, name),
  }
}

/** An option that may be repeated, or the remaining arguments. */
export function repeatable<Value>(
  form: string,
  summary: string,
  kind: ValueKind<Value>,
): ValueDeclaration<readonly Value[]> {
  return {
    ...partsOf(form, summary, kind),
    isRepeatable: true,
    read: (texts, name) => Promise.all(texts.map((text) => readText(kind, text, name))),
  }
}

function partsOf<Value>(
  form: string,
  summary: string,
  { parse: _parse, ...kind }: ValueKind<Value>,
) {
  return { ...kind, form, summary, isRequired: false, isRepeatable: false }
}

async function readText<Value>(kind: ValueKind<Value>, text: string, name: string): Promise<Value> {
  const value = await parseText(kind, text, name)
  if (value === undefined) throw new UsageError(`${name} must be ${kind.rule}, not ${text}`)
  return value
}

async function parseText<Value>(
  { parse }: ValueKind<Value>,
  text: string,
  name: string,
): Promise<Value | undefined> {
  try {
    return await parse(text)
  } catch (cause) {
    if (cause instanceof UsageError || cause instanceof RangeError)
      throw new UsageError(`${name}: ${cause.message}`, { cause })
    throw cause
  }
}

const form = '<id or name>'

const projectOption = required(form, 'the project; without it, that of the saved context', anyText)

/** The project of a command that needs one. */
export const requiredProject = {
  ...projectOption,
  isRequired: false,
  read: async (texts, name) => {
    if (texts.length > 0) return projectOption.read(texts, name)
    const { project } = (await import('./context/saved-context.ts')).readContext()
    return projectOption.read(project === undefined ? [] : [project], name)
  },
} satisfies ValueDeclaration<string>

/** The project of a command that otherwise concerns all projects. */
export const optionalProject = optional(form, 'only this project, by its id or name', anyText)

/** The account of a command that otherwise concerns the oldest one. */
export const optionalAccount = optional(
  form,
  'the account, if the database has several; without it, the oldest one',
  anyText,
)
