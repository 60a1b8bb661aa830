/** One command of the command line. */
export type CliCommand = {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** The forms of the command, one per line, then an explanation. */
  readonly usage: string
  readonly run: CommandRun
}

/**
 * @throws UsageError for invalid arguments: one line on standard error, exit code 2.
 * @throws Error when the command fails: one line on standard error, exit code 1.
 */
export type CommandRun = (args: readonly string[]) => Promise<void>

/** Invalid arguments of a command. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Returns the run function of a command whose first argument selects a subcommand. */
export function subcommands(runs: Readonly<Record<string, CommandRun>>): CommandRun {
  return (args) => {
    const [name, ...rest] = args
    const names = Object.keys(runs).join(', ')
    if (name === undefined) throw new UsageError(`a subcommand was not given; use one of ${names}`)
    const run = runs[name]
    if (!run) throw new UsageError(`${name} is not a subcommand; use one of ${names}`)
    return run(rest)
  }
}
