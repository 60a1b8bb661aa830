import { parseMicros, type Micros } from '../../lib/money.ts'
import { UsageError } from '../command.ts'

/**
 * Node's parser takes `--amount -5` for two options; people write it, and scripts do.
 *
 * @returns the arguments with the amount joined to its option.
 */
export function joinAmountOption(args: readonly string[]): string[] {
  const at = args.indexOf('--amount')
  const amount = args[at + 1]
  if (at < 0 || amount === undefined || !/^-\d/u.test(amount)) return [...args]
  return [...args.slice(0, at), `--amount=${amount}`, ...args.slice(at + 2)]
}

/** @throws UsageError unless the text is a whole number of micros other than 0. */
export function parseAmountOption(text: string | undefined): Micros {
  if (text === undefined) throw new UsageError('say how much with --amount <micros>')
  try {
    const amount = parseMicros(text)
    if (amount !== 0n) return amount
  } catch (cause) {
    throw new UsageError(`--amount: ${cause instanceof Error ? cause.message : text}`, { cause })
  }
  throw new UsageError('--amount is 0: there is nothing to move')
}
