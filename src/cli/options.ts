import { parseArgs, type ParseArgsConfig } from 'node:util'
import { parseUtc } from '../lib/utc.ts'
import { UsageError } from './command.ts'

type OptionDefinitions = NonNullable<ParseArgsConfig['options']>

/** An option with a value. */
export const text = { type: 'string' } as const

/** An option without a value. */
export const flag = { type: 'boolean', default: false } as const

/**
 * Parses the options of a command that takes no arguments. Every command also accepts `--json`.
 *
 * @throws TypeError with a code that starts with ERR_PARSE_ARGS.
 */
export function parseOptions<const T extends OptionDefinitions>(
  args: readonly string[],
  options: T,
) {
  return parseArgs({ args: [...args], options: { ...options, json: flag } }).values
}

/** Parses the options and the arguments (`positionals`) of a command. */
export function parseArguments<const T extends OptionDefinitions>(
  args: readonly string[],
  options: T,
) {
  return parseArgs({
    args: [...args],
    options: { ...options, json: flag },
    allowPositionals: true,
  })
}

/**
 * Returns the value of a required option.
 *
 * @param subject what the option stands for, such as `the new file`.
 * @param usage the option as the help shows it, such as `--to <file>`.
 * @throws UsageError when the option was not given.
 */
export function requireOption(value: string | undefined, subject: string, usage: string): string {
  if (value === undefined) throw new UsageError(`${subject} was not given; pass ${usage}`)
  return value
}

/**
 * Returns the only argument of a command.
 *
 * @param usage the argument as the help shows it, such as `<project>`.
 * @throws UsageError when there is no argument, or more than one.
 */
export function requireArgument(positionals: readonly string[], usage: string): string {
  const [argument] = positionals
  if (argument === undefined || positionals.length > 1)
    throw new UsageError(`expected one argument, ${usage}, but got ${positionals.length}`)
  return argument
}

/** Parses a date or time in ISO 8601. @throws UsageError for any other text. */
export function parseTimeOption(option: string, value: string): Date {
  try {
    return parseUtc(value)
  } catch (cause) {
    if (cause instanceof RangeError) throw new UsageError(`${option}: ${cause.message}`, { cause })
    throw cause
  }
}
