import { closestName } from '../../lib/validation/closest-name.ts'

/** The fewest characters of a beginning that select a name. */
const beginningMin = 3

/** Returns the name that a mistyped or shortened name most probably stands for. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  const beginning = names.filter((name) => name.startsWith(typed))
  const [completed] = typed.length >= beginningMin && beginning.length === 1 ? beginning : []
  return closestName(typed, names) ?? completed
}
