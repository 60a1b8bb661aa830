/** Returns a record with the same keys, in the same order, and the values that `map` returns. */
export function mapValues<Key extends string, Value, Result>(
  record: Readonly<Record<Key, Value>>,
  map: (value: Value, key: Key) => Result,
): Record<Key, Result> {
  const entries = Object.entries<Value>(record).map(([key, value]) => [key, map(value, key as Key)])
  // The entries have the keys of the record.
  return Object.fromEntries(entries) as Record<Key, Result>
}
