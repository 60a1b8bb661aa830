import { Interruption, UsageError } from './command.ts'
import { describeError } from '../lib/observability/describe-error.ts'
import { findCommand, requestsHelp } from './command-line/read-values.ts'
import { formatHelp, formatOverview } from './command-line/format-help.ts'
import { commands } from './commands.ts'
import { version } from './version.ts'

/** Runs a command line, such as `['key', 'list']`. @returns the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const [first] = args
  if (first === '--version' || first === '-v') return printText(`facegate ${version}`, 0)
  if (first === undefined || ['--help', '-h'].includes(first))
    return printText(formatOverview(commands, version), first === undefined ? 2 : 0)
  return first === 'help' ? runCommandLine([...args.slice(1), '--help']) : runCommand(args)
}

async function runCommand(args: readonly string[]): Promise<number> {
  const group = commands.find(({ name, commands: inner }) => name === args[0] && inner.length > 0)
  let help = group ? `facegate ${group.name} --help` : 'facegate --help'
  try {
    const { command, path, rest } = findCommand(commands, args)
    if (!command) throw new UsageError(`${args[0]} is not a command of facegate`)
    help = ['facegate', ...path, '--help'].join(' ')
    const isGroupHelp = command.commands.length > 0 && rest[0] === 'help'
    if (isGroupHelp || requestsHelp(rest, command.options))
      return printText(formatHelp(command, path), 0)
    await command.run(rest)
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError
    // A message can quote the response of a service, or a file: it must not control the terminal.
    const message = describeError(error).replaceAll(/(?!\n)\p{Cc}/gu, '?')
    const hint = message.endsWith('?') ? ` See ${help}` : `; see ${help}`
    console.error(`facegate: ${message}${isUsage ? hint : ''}`)
    if (error instanceof Interruption) return 130
    return isUsage ? 2 : 1
  }
}

function printText(text: string, exitCode: number): number {
  console.log(text)
  return exitCode
}
