import { parseArgs, type ParseArgsConfig } from 'node:util'
import { nearestName } from './nearest-name.ts'
import { UsageError, type CliCommand, type ValueDeclarations } from '../command.ts'

type Declared = Pick<CliCommand, 'options' | 'arguments'>

/** The texts of a command line: of each option by name, and the others in their order. */
type GivenTexts = {
  readonly options: ReadonlyMap<string, readonly string[]>
  readonly positionals: readonly string[]
}

/**
 * Returns the value of every declared option and argument of a command, by name.
 *
 * @throws UsageError in one line that names the option or the argument and the remedy.
 */
export async function readValues(
  args: readonly string[],
  declared: Declared,
): Promise<Readonly<Record<string, unknown>>> {
  const { options, positionals } = await readTexts(args, declared.options)
  const values: Record<string, unknown> = {}
  const remaining = [...positionals]
  for (const [name, declaration] of Object.entries(declared.arguments)) {
    const texts = remaining.splice(0, declaration.isRepeatable ? remaining.length : 1)
    values[name] = await declaration.read(texts, declaration.form ?? name)
  }
  if (remaining[0] !== undefined) throw new UsageError(unexpected(remaining[0], declared))
  for (const [name, declaration] of Object.entries(declared.options))
    values[name] = await declaration.read(options.get(name) ?? [], `--${name}`)
  return values
}

/** Returns whether the command line contains `--help` or `-h` as an option, not as a value. */
export function requestsHelp(args: readonly string[], declared: ValueDeclarations): boolean {
  return tokensOf(args, declared).some((token) => token.kind === 'option' && token.name === 'help')
}

async function readTexts(
  args: readonly string[],
  declared: ValueDeclarations,
): Promise<GivenTexts> {
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

type OptionToken = {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

/** Returns the text of an option, which is empty for an option without a value. */
function textOf({ rawName, value, inlineValue }: OptionToken, form: string | undefined): string {
  if (form === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} has no value; pass ${rawName} alone`)
    return ''
  }
  if (value === undefined) throw new UsageError(`${rawName} has no value; pass ${rawName} ${form}`)
  // A negative number is a value; other texts with a hyphen are probably the next option.
  if (inlineValue !== true && /^-(?!\d)/u.test(value))
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
