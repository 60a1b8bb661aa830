import type { CalibrationSubject } from '../read-templates.ts'
import { maskKey, type GroupCounts } from './compare-subjects.ts'

/** The groups of a gallery that are compared, and the bits of each subject. */
export type ComparedGroups = ReturnType<typeof selectGroups>

/** The groups with the most subjects; each is a bit of a byte. */
const comparedGroupsMax = 8
/** A smaller group has too few pairs for a rate. */
const groupSubjectsMin = 10

/** Selects the groups to compare. Without two of them there is nothing to compare. */
export function selectGroups(subjects: readonly CalibrationSubject[]) {
  const counts = new Map<string, number>()
  for (const { groups } of subjects)
    for (const name of groups) counts.set(name, (counts.get(name) ?? 0) + 1)
  const names = [...counts]
    .filter(([, count]) => count >= groupSubjectsMin)
    .toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, comparedGroupsMax)
    .map(([name]) => name)
  const bits = new Map(names.map((name, index) => [name, 1 << index]))
  const maskOf = ({ groups }: CalibrationSubject): number =>
    groups.reduce((mask, name) => mask | (bits.get(name) ?? 0), 0)
  return { names, masks: Uint8Array.from(subjects, maskOf) }
}

/** Returns the false-match rates within each group and between each two groups, by threshold. */
export function groupRates(names: readonly string[], counts: GroupCounts) {
  return names.flatMap((nameA, a) =>
    names.slice(a).flatMap((nameB, offset) => {
      const keys = keysOfGroups(1 << a, 1 << (a + offset))
      const sum = (values: Float64Array): number =>
        keys.reduce((total, key) => total + (values[key] ?? 0), 0)
      const pairs = sum(counts.pairs)
      if (pairs === 0) return []
      const rates = counts.matches.map((matches) => sum(matches) / pairs)
      return [{ groups: [nameA, nameB] as const, pairs, rates }]
    }),
  )
}

/** The keys of all pairs of masks of which one has the first group and the other the second. */
function keysOfGroups(bitA: number, bitB: number): number[] {
  const masks = Array.from({ length: 256 }, (_, mask) => mask)
  return masks.flatMap((first) =>
    masks
      .filter(
        (second) =>
          ((first & bitA) !== 0 && (second & bitB) !== 0) ||
          ((first & bitB) !== 0 && (second & bitA) !== 0),
      )
      .map((second) => maskKey(first, second)),
  )
}
