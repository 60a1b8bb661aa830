import { UsageError } from '../command.ts'

/** Parses an option that is a whole number from 0 to a maximum. @throws UsageError. */
export function parseWhole(
  option: string,
  value: string | undefined,
  { fallback, max }: { readonly fallback: number; readonly max: number },
): number {
  if (value === undefined) return fallback
  const number = /^\d{1,6}$/u.test(value) ? Number(value) : Number.NaN
  if (!(number <= max)) throw new UsageError(`${option} must be a whole number from 0 to ${max}`)
  return number
}
