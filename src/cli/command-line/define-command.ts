import {
  type CliCommand,
  UsageError,
  type ValueDeclaration,
  type ValueDeclarations,
} from '../command.ts'
import { flag } from '../options.ts'
import helpTexts from './help-texts.json' with { type: 'json' }
import { findCommand, readValues } from './read-values.ts'

/** The values of declared options or arguments, by name. */
type ValuesOf<Declared> = {
  readonly [Name in keyof Declared]: Declared[Name] extends ValueDeclaration<infer Value>
    ? Value
    : never
}

type RunnableCommand<Options, Arguments> = {
  readonly options?: Options
  readonly arguments?: Arguments
  /** Whether the command can print JSON; true by default. */
  readonly hasJson?: boolean
  /**
   * Receives the values of the options and arguments. It imports what it needs, so that the
   * declaration itself loads quickly.
   */
  readonly run: (
    values: ValuesOf<Options> & ValuesOf<Arguments> & { readonly json: boolean },
  ) => Promise<void>
}

const jsonFlag = flag('print the result as JSON')

/** The names of the groups of a command and its own, as `help-texts.json` lists them. */
type HelpPath = keyof typeof helpTexts

/** What the help and docs/reference/cli.md contain about a command. */
export type HelpTexts = {
  readonly summary: string
  /** Paragraphs. */
  readonly description?: readonly string[]
  readonly examples?: readonly string[]
  readonly options?: Readonly<Record<string, string>>
  readonly arguments?: Readonly<Record<string, string>>
}

/** Returns the parts of a command that its path determines. */
function partsOf(path: HelpPath) {
  const { summary, description = [], examples = [] }: HelpTexts = helpTexts[path]
  const name = path.slice(path.lastIndexOf(' ') + 1)
  return { name, summary, description: description.join('\n'), examples }
}

/** Adds the texts of the options or arguments that only this command has. */
function explain(declared: ValueDeclarations = {}, texts: HelpTexts['options'] = {}) {
  const explained = Object.entries(declared).map(
    ([name, { summary, ...declaration }]) =>
      [name, { ...declaration, summary: texts[name] ?? summary }] as const,
  )
  return Object.fromEntries(explained)
}

/** Declares a command. `run` is the last member: its type follows from those before it. */
export function defineCommand<
  const Options extends ValueDeclarations,
  const Arguments extends ValueDeclarations,
>(path: HelpPath, declaration: RunnableCommand<Options, Arguments>): CliCommand {
  const { options, arguments: positionals, hasJson = true, run } = declaration
  const texts: HelpTexts = helpTexts[path]
  const declared = {
    options: { ...explain(options, texts.options), ...(hasJson && { json: jsonFlag }) },
    arguments: explain(positionals, texts.arguments),
  }
  return {
    ...partsOf(path),
    ...declared,
    commands: [],
    // `readValues` returns a value for each declaration, of the type that its `read` returns.
    run: async (args) => run((await readValues(args, declared)) as Parameters<typeof run>[0]),
  }
}

/** Declares a group: a command whose first argument selects one of its commands. */
export function defineGroup(path: HelpPath, commands: CliCommand['commands']): CliCommand {
  return {
    ...partsOf(path),
    commands,
    options: {},
    arguments: {},
    run: async (args) => {
      const { command, rest } = findCommand(commands, args, path)
      const names = commands.map(({ name }) => name).join(', ')
      if (!command) throw new UsageError(`${path} needs one of its commands: ${names}`)
      await command.run(rest)
    },
  }
}
