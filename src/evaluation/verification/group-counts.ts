import type { DecisionLevel } from './decision-levels.ts'
import type { PersonTemplate } from './pair-scores.ts'
import type { GroupLabels } from './read-groups.ts'

export type GroupsReport = ReturnType<ReturnType<typeof createGroupCounts>['report']>

/** The pairs within one group, or between two groups. */
export type GroupPairs = ReturnType<typeof pairsOf>[number]

type GroupPairCounts = ReturnType<typeof createPairCounts>

/** A face and the index of its group, −1 if it has none. */
export type GroupedFace = PersonTemplate & { readonly groupIndex: number }

/** Counts pairs by group while they are scored. */
export function createGroupCounts(
  { names, unmatched }: Pick<GroupLabels, 'names' | 'unmatched'>,
  faces: readonly GroupedFace[],
  levels: readonly DecisionLevel[],
) {
  const counts = names.map(() => names.map(() => createPairCounts(levels.length)))
  return {
    add: (a: number, b: number, score: number): void => {
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
        /** `pictures`: images with a template. */
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
      /** Images with a template but without a group. Their pairs are in no group. */
      ungroupedPictures: faces.filter(({ groupIndex }) => groupIndex === -1).length,
      /** Names in groups.csv that the set does not contain. */
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
  groups: readonly [string] | readonly [string, string],
  counted: GroupPairCounts | undefined,
  levels: readonly DecisionLevel[],
) {
  if (!counted) return []
  const { genuine, impostor } = counted.pairs
  const rates = levels.map(({ similarity }, index) => {
    const falseMatches = counted.falseMatches[index] ?? 0
    const falseNonMatches = counted.falseNonMatches[index] ?? 0
    return {
      similarity,
      falseMatches,
      /** Null if there are no such pairs, as `fnmr`. */
      fmr: impostor > 0 ? falseMatches / impostor : null,
      falseNonMatches,
      fnmr: genuine > 0 ? falseNonMatches / genuine : null,
    }
  })
  return [
    {
      groups,
      genuine,
      impostor,
      /** One entry per threshold; empty without a calibration table. */
      rates,
    },
  ]
}
