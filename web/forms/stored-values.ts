/** The values of the fields of a form, by field name. */
type FieldValues = Readonly<Record<string, unknown>>

/** Entries that were added to a list and removed from it. */
type ListChange = { readonly added: readonly string[]; readonly removed: readonly string[] }

/**
 * Whether two values of a field are equal. Spaces around a text and the order of a list have no
 * meaning, and a number equals its text.
 */
function isSameValue(first: unknown, second: unknown): boolean {
  if (isList(first) && isList(second)) {
    const { added, removed } = listChangeOf(first, second)
    return added.length + removed.length === 0
  }
  if (typeof first === 'number' || typeof second === 'number')
    return first !== '' && second !== '' && Number(String(first)) === Number(String(second))
  if (typeof first === 'string' && typeof second === 'string') return first.trim() === second.trim()
  return first === second
}

/** Returns the values that differ from those with which the form was opened. */
export function changedValues<Values extends object>(
  opened: Values,
  values: Values,
): Partial<Values> {
  const entries = Object.entries(values).filter(
    ([name, value]) => !isSameValue(value, (opened as FieldValues)[name]),
  )
  return Object.fromEntries(entries) as Partial<Values>
}

/** Returns the entries that were added to a list and removed from it. */
export function listChangeOf(opened: readonly string[], selected: readonly string[]): ListChange {
  return {
    added: selected.filter((entry) => !opened.includes(entry)),
    removed: opened.filter((entry) => !selected.includes(entry)),
  }
}

/**
 * Returns the values of a form after the stored ones have changed. A field that the user did not
 * change gets the stored value. The entries that the user added to a list and removed from it apply
 * to the stored list. Any other changed field keeps its value.
 */
export function followStored<Values extends object>(
  opened: Values,
  values: Values,
  stored: Values,
): Values {
  const follow = (name: string, value: unknown): unknown => {
    const before = (opened as FieldValues)[name]
    const now = (stored as FieldValues)[name]
    if (isSameValue(value, before) || isSameValue(value, now)) return now
    if (!isList(value) || !isList(before) || !isList(now)) return value
    const { added, removed } = listChangeOf(before, value)
    const kept = now.filter((entry) => !removed.includes(entry))
    return [...new Set([...kept, ...added])]
  }
  const entries = Object.entries(values).map(([name, value]) => [name, follow(name, value)])
  return Object.fromEntries(entries) as Values
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value)
}
