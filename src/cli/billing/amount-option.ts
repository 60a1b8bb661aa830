import { parseMicros, type Micros } from '../../lib/money.ts'
import { UsageError } from '../command.ts'
import { requireOption } from '../options.ts'

/**
 * Returns the arguments with `--amount -5` replaced by `--amount=-5`: the parser of Node reads a
 * separate negative number as an option.
 */
export function joinAmountOption(args: readonly string[]): string[] {
  const index = args.indexOf('--amount')
  const amount = args[index + 1]
  if (index < 0 || amount === undefined || !/^-\d/u.test(amount)) return [...args]
  return [...args.slice(0, index), `--amount=${amount}`, ...args.slice(index + 2)]
}

/** @throws UsageError unless the value is a whole number of micros other than 0. */
export function parseAmountOption(value: string | undefined): Micros {
  const amount = parseAmount(requireOption(value, 'the amount', '--amount <micros>'))
  if (amount === 0n) throw new UsageError('--amount must not be 0')
  return amount
}

function parseAmount(text: string): Micros {
  try {
    return parseMicros(text)
  } catch (cause) {
    throw new UsageError(`--amount: ${cause instanceof Error ? cause.message : text}`, { cause })
  }
}
