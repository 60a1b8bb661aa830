import { UsageError, type ValueDeclaration, type ValueKind } from './command.ts'
import { anyText } from './command-line/value-kinds.ts'

/** An option without a value. */
export function flag(summary = ''): ValueDeclaration<boolean> {
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
  kind: ValueKind<Value>,
  summary = '',
): ValueDeclaration<Value | undefined> {
  return {
    ...partsOf(form, kind, summary),
    read: async ([text], name) => (text === undefined ? undefined : readText(kind, text, name)),
  }
}

/** An option or an argument that must be given. */
export function required<Value>(
  form: string,
  kind: ValueKind<Value>,
  summary = '',
): ValueDeclaration<Value> {
  return {
    ...partsOf(form, kind, summary),
    isRequired: true,
    read: async ([text], name, explanation) => {
      if (text !== undefined) return readText(kind, text, name)
      throw new UsageError(
        name.startsWith('--')
          ? `${name} was not given; pass ${name} ${form}: ${explanation}`
          : `${form} was not given: ${explanation}`,
      )
    },
  }
}

/** An option that has a value even if it is absent: that of the default text. */
export function withDefault<Value>(
  form: string,
  kind: ValueKind<Value>,
  defaultText: string,
): ValueDeclaration<Value> {
  return {
    ...partsOf(form, kind),
    default: defaultText,
    read: ([text = defaultText], name) => readText(kind, text, name),
  }
}

/** An option that may be repeated, or the remaining arguments. */
export function repeatable<Value>(
  form: string,
  kind: ValueKind<Value>,
  summary = '',
): ValueDeclaration<readonly Value[]> {
  return {
    ...partsOf(form, kind, summary),
    isRepeatable: true,
    read: (texts, name) => Promise.all(texts.map((text) => readText(kind, text, name))),
  }
}

/**
 * Returns the common parts of a declaration. Without a `summary`, `help-texts.json` explains the value; a
 * declaration that several commands share has one.
 */
function partsOf<Value>(form: string, { parse: _parse, ...kind }: ValueKind<Value>, summary = '') {
  return { ...kind, form, summary, isRequired: false, isRepeatable: false }
}

async function readText<Value>(kind: ValueKind<Value>, text: string, name: string): Promise<Value> {
  const value = await parseText(kind, text, name)
  if (value === undefined) throw new UsageError(`${name} must be ${kind.rule}, not ${text}`)
  return value
}

async function parseText<Value>({ parse }: ValueKind<Value>, text: string, name: string) {
  try {
    return await parse(text)
  } catch (cause) {
    if (cause instanceof UsageError || cause instanceof RangeError)
      throw new UsageError(`${name}: ${cause.message}`, { cause })
    throw cause
  }
}

const form = '<id or name>'

const projectOption = required(form, anyText, 'the project; without it, that of the saved context')

/** The project of a command that needs one. */
export const requiredProject = {
  ...projectOption,
  isRequired: false,
  read: async (texts, name, explanation) => {
    if (texts.length > 0) return projectOption.read(texts, name, explanation)
    const { project } = (await import('./context/saved-context.ts')).readContext()
    return projectOption.read(project === undefined ? [] : [project], name, explanation)
  },
} satisfies ValueDeclaration<string>

/** The project of a command that otherwise concerns all projects. */
export const optionalProject = optional(form, anyText, 'only this project, by its id or name')

/** The account of a command that otherwise concerns the oldest one. */
export const optionalAccount = optional(
  form,
  anyText,
  'the account, if the database has several; without it, the oldest one',
)
