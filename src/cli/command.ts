/** One command of the command line; one file each. */
export type CliCommand = {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  /** How to call it, one form a line. */
  readonly usage: string
  /**
   * @throws UsageError when the arguments are off: one line and exit code 2.
   * @throws Error when the work fails: one line and exit code 1.
   */
  readonly run: (args: readonly string[]) => Promise<void>
}

/** Arguments that a command cannot work with. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
