type Attributes = Readonly<Record<string, unknown>>

/**
 * Returns the JSON merge patch (RFC 7396) that changes one object into another: only differing names,
 * at every level, with null for removed ones. Arrays are replaced. Undefined: there is no difference.
 */
export function attributesPatch(before: Attributes, after: Attributes): Attributes | undefined {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const entries = [...names].flatMap((name) => {
    if (!Object.hasOwn(after, name)) return [[name, null] as const]
    const [from, to] = [Object.hasOwn(before, name) ? before[name] : undefined, after[name]]
    const patch = isObject(from) && isObject(to) ? attributesPatch(from, to) : to
    const isSame = patch === undefined || JSON.stringify(from) === JSON.stringify(to)
    return isSame ? [] : [[name, patch] as const]
  })
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

function isObject(value: unknown): value is Attributes {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
