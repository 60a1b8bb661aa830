import {
  type CliCommand,
  UsageError,
  type ValueDeclaration,
  type ValueDeclarations,
} from '../command.ts'
import { flag } from '../options.ts'
import { findCommand, readValues } from './read-values.ts'

/** The values of declared options or arguments, by name. */
type ValuesOf<Declared> = {
  readonly [Name in keyof Declared]: Declared[Name] extends ValueDeclaration<infer Value>
    ? Value
    : never
}

type CommandTexts = Pick<CliCommand, 'name' | 'summary'> & Partial<Pick<CliCommand, 'description'>>

type RunnableCommand<Options, Arguments> = CommandTexts & {
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

/** Declares a command. `run` is the last member: its type follows from those before it. */
export function defineCommand<
  const Options extends ValueDeclarations,
  const Arguments extends ValueDeclarations,
>(declaration: RunnableCommand<Options, Arguments>): CliCommand {
  const { options, arguments: positionals, hasJson = true, run, ...texts } = declaration
  const declared = {
    options: { ...options, ...(hasJson && { json: jsonFlag }) },
    arguments: { ...positionals },
  }
  return {
    description: '',
    ...texts,
    ...declared,
    commands: [],
    // `readValues` returns a value for each declaration, of the type that its `read` returns.
    run: async (args) => run((await readValues(args, declared)) as Parameters<typeof run>[0]),
  }
}

/** Declares a group: a command whose first argument selects one of its commands. */
export function defineGroup(declaration: CommandTexts & Pick<CliCommand, 'commands'>): CliCommand {
  const { name, commands } = declaration
  return {
    description: '',
    ...declaration,
    options: {},
    arguments: {},
    run: async (args) => {
      const { command, rest } = findCommand(commands, args, name)
      if (!command) throw new UsageError(missingCommand(name, commands))
      await command.run(rest)
    },
  }
}

/** The message for a group without the name of one of its commands. */
function missingCommand(group: string, commands: readonly CliCommand[]): string {
  const names = commands.map(({ name }) => name)
  return `${group} needs one of its commands: ${names.join(', ')}`
}
