import { type ParseArgsConfig, parseArgs } from 'node:util'
import { type CliCommand, UsageError, type ValueDeclarations } from '../command.ts'
import { nearestName } from './nearest-name.ts'

type Declared = Pick<CliCommand, 'options' | 'arguments'>

/**
 * Returns the value of every declared option and argument of a command, by name.
 *
 * @throws UsageError in one line that names the option or the argument and the remedy.
 */
export async function readValues(args: readonly string[], declared: Declared) {
  const { options, positionals } = await readTexts(args, declared.options)
  const values: Record<string, unknown> = {}
  const remaining = [...positionals]
  for (const [name, declaration] of Object.entries(declared.arguments)) {
    const texts = remaining.splice(0, declaration.isRepeatable ? remaining.length : 1)
    values[name] = await declaration.read(texts, declaration.form ?? name, declaration.summary)
  }
  if (remaining[0] !== undefined) throw new UsageError(unexpected(remaining[0], declared))
  for (const [name, declaration] of Object.entries(declared.options))
    values[name] = await declaration.read(options.get(name) ?? [], `--${name}`, declaration.summary)
  return values
}

/** Returns whether the command line contains `--help` or `-h` as an option, not as a value. */
export function requestsHelp(args: readonly string[], declared: ValueDeclarations): boolean {
  return tokensOf(args, declared).some((token) => token.kind === 'option' && token.name === 'help')
}

/** Returns the texts of each option by name, and the others in their order. */
async function readTexts(args: readonly string[], declared: ValueDeclarations) {
  const options = new Map<string, string[]>()
  const positionals: string[] = []
  for (const token of tokensOf(args, declared)) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const declaration = declared[token.name]
    if (!declaration) throw new UsageError(await unknownOption(token.rawName, declared))
    const given = options.get(token.name) ?? []
    if (given.length > 0 && !declaration.isRepeatable)
      throw new UsageError(`${token.rawName} was given more than once; pass it once`)
    options.set(token.name, [...given, textOf(token, declaration.form)])
  }
  return { options, positionals }
}

/** Options that are not declared have no value, so that the messages are those of this module. */
function tokensOf(args: readonly string[], declared: ValueDeclarations) {
  const options: NonNullable<ParseArgsConfig['options']> = {
    help: { type: 'boolean', short: 'h' },
    ...Object.fromEntries(
      Object.entries(declared).map(([name, { form }]) => [
        name,
        { type: form === undefined ? ('boolean' as const) : ('string' as const), multiple: true },
      ]),
    ),
  }
  return parseArgs({ args: [...args], options, strict: false, tokens: true }).tokens
}

type OptionToken = Extract<ReturnType<typeof tokensOf>[number], { readonly kind: 'option' }>

/** Returns the text of an option, which is empty for an option without a value. */
function textOf({ rawName, value, inlineValue }: OptionToken, form: string | undefined): string {
  if (form === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} has no value; pass ${rawName} alone`)
    return ''
  }
  if (value === undefined) throw new UsageError(`${rawName} has no value; pass ${rawName} ${form}`)
  // A negative number is a value; other texts with a hyphen are probably the next option.
  if (!inlineValue && /^-(?!\d)/u.test(value))
    throw new UsageError(
      `${rawName} has no value before ${value}; pass ${rawName} ${form}, or ${rawName}=${value} ` +
        'if that is the value',
    )
  return value
}

async function unknownOption(rawName: string, declared: ValueDeclarations): Promise<string> {
  const names = [...Object.keys(declared), 'help']
  const nearest = nearestName(rawName.replace(/^-+/u, ''), names)
  const refusal = `${rawName} is not an option of this command`
  if (nearest !== undefined) return `${refusal}; did you mean --${nearest}?`
  const { settings } = await import('../../config.ts')
  const setting = rawName.replace(/^-+/u, '').replaceAll('-', '_').toUpperCase()
  return Object.hasOwn(settings, setting)
    ? `${refusal}; set ${setting} in the environment`
    : `${refusal}; use one of ${names.map((name) => `--${name}`).join(', ')}`
}

function unexpected(text: string, { arguments: declared }: Declared): string {
  const forms = Object.values(declared).map(({ form }) => form)
  return forms.length === 0
    ? `${text} is not expected: this command takes options only`
    : `${text} is one argument too many: this command takes ${forms.join(' and ')}`
}

/** The command that a command line selects. */
type FoundCommand = {
  /** Undefined if the command line selects none. */
  readonly command: CliCommand | undefined
  /** The names of the command and of its groups. */
  readonly path: readonly string[]
  /** The command line after the names. */
  readonly rest: readonly string[]
}

/**
 * Finds the command that the first arguments select, through groups.
 *
 * @param parent the names of the groups so far, for messages.
 * @throws UsageError with the nearest name when there is no such command.
 */
export function findCommand(
  commands: readonly CliCommand[],
  args: readonly string[],
  parent = '',
): FoundCommand {
  const [name, ...rest] = args
  const isHelp = parent !== '' && name === 'help'
  if (name === undefined || name.startsWith('-') || isHelp)
    return { command: undefined, path: [], rest: args }
  const command = commands.find((each) => each.name === name)
  if (!command) throw new UsageError(unknownCommand(name, commands, parent))
  const path = `${parent} ${command.name}`.trim()
  const inner = findCommand(command.commands, command.commands.length > 0 ? rest : [], path)
  return inner.command
    ? { ...inner, path: [command.name, ...inner.path] }
    : { command, path: [command.name], rest }
}

function unknownCommand(name: string, commands: readonly CliCommand[], parent: string): string {
  const names = commands.map((command) => command.name)
  const nearest = nearestName(name, names)
  const place = `facegate ${parent}`.trim()
  const remedy =
    nearest === undefined ? `use one of ${names.join(', ')}` : `did you mean ${nearest}?`
  return `${name} is not a command of ${place}; ${remedy}`
}
