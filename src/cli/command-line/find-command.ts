import { nearestName } from './nearest-name.ts'
import { UsageError, type CliCommand } from '../command.ts'

/** The command that a command line selects. */
export type FoundCommand = {
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
