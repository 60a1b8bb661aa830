import type { DecisionLevel } from './decision-levels.ts'
import type { PersonTemplate } from './pair-scores.ts'
import type { GroupLabels } from './read-groups.ts'

/** The rates at one threshold. A rate is null if there are no such pairs. */
export type GroupRates = {
  readonly similarity: number
  readonly falseMatches: number
  readonly fmr: number | null
  readonly falseNonMatches: number
  readonly fnmr: number | null
}

/** The pairs within one group, or between two groups. */
export type GroupPairs = {
  readonly groups: readonly [string] | readonly [string, string]
  readonly genuine: number
  readonly impostor: number
  /** One entry per threshold; empty without a calibration table. */
  readonly rates: readonly GroupRates[]
}

export type GroupsReport = {
  readonly groups: readonly {
    readonly group: string
    readonly people: number
    /** Images with a template. */
    readonly pictures: number
  }[]
  readonly within: readonly GroupPairs[]
  readonly between: readonly GroupPairs[]
  /** Images with a template but without a group. Their pairs are in no group. */
  readonly ungroupedPictures: number
  /** Names in groups.csv that the set does not contain. */
  readonly unmatched: readonly string[]
}

type GroupPairCounts = ReturnType<typeof createPairCounts>

/** A face and the index of its group, −1 if it has none. */
export type GroupedFace = PersonTemplate & { readonly groupIndex: number }

/** Counts pairs by group while they are scored. */
export function createGroupCounts(
  { names, unmatched }: Pick<GroupLabels, 'names' | 'unmatched'>,
  faces: readonly GroupedFace[],
  levels: readonly DecisionLevel[],
): {
  readonly add: (a: number, b: number, score: number) => void
  readonly report: () => GroupsReport
} {
  const counts = names.map(() => names.map(() => createPairCounts(levels.length)))
  return {
    add: (a, b, score) => {
      const [faceA, faceB] = [faces[a], faces[b]]
      if (!faceA || !faceB) throw new RangeError(`there is no pair ${a}, ${b}`)
      const low = Math.min(faceA.groupIndex, faceB.groupIndex)
      const counted = counts[low]?.[Math.max(faceA.groupIndex, faceB.groupIndex)]
      if (counted) addPair(counted, faceA.person === faceB.person, score, levels)
    },
    report: () => ({
      groups: names.map((group, index) => {
        const members = faces.filter(({ groupIndex }) => groupIndex === index)
        const people = new Set(members.map(({ person }) => person)).size
        return { group, people, pictures: members.length }
      }),
      within: names.flatMap((name, index) => pairsOf([name], counts[index]?.[index], levels)),
      between: names.flatMap((name, low) =>
        names
          .slice(low + 1)
          .flatMap((other, offset) =>
            pairsOf([name, other], counts[low]?.[low + 1 + offset], levels),
          ),
      ),
      ungroupedPictures: faces.filter(({ groupIndex }) => groupIndex === -1).length,
      unmatched,
    }),
  }
}

function createPairCounts(levelCount: number) {
  return {
    pairs: { genuine: 0, impostor: 0 },
    /** For each level. */
    falseMatches: Array.from({ length: levelCount }, () => 0),
    falseNonMatches: Array.from({ length: levelCount }, () => 0),
  }
}

function addPair(
  { pairs, falseMatches, falseNonMatches }: GroupPairCounts,
  isGenuine: boolean,
  score: number,
  levels: readonly DecisionLevel[],
): void {
  pairs[isGenuine ? 'genuine' : 'impostor']++
  for (const [index, level] of levels.entries()) {
    const isMatch = score > level.score
    if (isMatch === isGenuine) continue
    const errors = isMatch ? falseMatches : falseNonMatches
    errors[index] = (errors[index] ?? 0) + 1
  }
}

function pairsOf(
  groups: GroupPairs['groups'],
  counted: GroupPairCounts | undefined,
  levels: readonly DecisionLevel[],
): GroupPairs[] {
  if (!counted) return []
  const { genuine, impostor } = counted.pairs
  const rates = levels.map(({ similarity }, index) => {
    const falseMatches = counted.falseMatches[index] ?? 0
    const falseNonMatches = counted.falseNonMatches[index] ?? 0
    return {
      similarity,
      falseMatches,
      fmr: impostor > 0 ? falseMatches / impostor : null,
      falseNonMatches,
      fnmr: genuine > 0 ? falseNonMatches / genuine : null,
    }
  })
  return [{ groups, genuine, impostor, rates }]
}
