/** The most inserted, deleted or replaced characters of a mistyped name. */
const editsMax = 2

/**
 * Returns the name that a mistyped name most probably stands for: equal but for case, `_` and `-`, or at
 * most two edits away and fewer than half of its characters. Undefined if no name is close.
 */
export function closestName(typed: string, names: readonly string[]): string | undefined {
  const text = simplify(typed.slice(0, 64))
  const ranked = names
    .map((name) => ({ name, edits: editDistance(text, simplify(name)) }))
    .filter(({ name, edits }) => edits <= editsMax && edits * 2 < name.length)
    .toSorted((a, b) => a.edits - b.edits)
  return ranked[0]?.name
}

function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/gu, '')
}

/** The Levenshtein distance, computed row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row[b.length] ?? 0
}
