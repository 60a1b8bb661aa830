import type { GalleryTemplates } from '../read-templates.ts'
import { CalibrationRefusal } from './calibration-refusal.ts'
import type { TemplateScorer } from './template-scorer.ts'
import { scoresOfSubjects, type ScoreTail, type SuspectedPair } from './suspected-duplicates.ts'

/** Two subjects that the owner has confirmed as one person, by subject id or external id. */
export type ExclusionRow = {
  /** The place of the row, for errors, such as `pairs.csv:3`. */
  readonly place: string
  readonly subjectA: string
  readonly subjectB: string
}

export type ExcludedPair = SuspectedPair

/** @throws CalibrationRefusal that names the first row whose subjects the gallery does not have. */
export function excludedPairs(
  templates: GalleryTemplates,
  scorer: TemplateScorer,
  rows: readonly ExclusionRow[],
) {
  const indexOf = subjectFinder(templates)
  const pairs = rows.map((row) => {
    const { place } = row
    const [subjectA, subjectB] = [indexOf(row.subjectA, place), indexOf(row.subjectB, place)]
    if (subjectA === subjectB)
      throw new CalibrationRefusal(`${place}: both ids are of the same subject`)
    return { place, subjectA, subjectB }
  })
  const count = templates.subjects.length
  const keys = new Set(pairs.map(({ subjectA, subjectB }) => keyOf(subjectA, subjectB, count)))
  const hasPair = new Uint8Array(count)
  for (const { subjectA, subjectB } of pairs) hasPair[subjectA] = hasPair[subjectB] = 1
  return {
    isExcluded: (a: number, b: number): boolean =>
      hasPair[a] === 1 && hasPair[b] === 1 && keys.has(keyOf(a, b, count)),
    /**
     * Requires that each pair is a suspected duplicate: leaving out other pairs would make the rates too
     * low.
     *
     * @throws CalibrationRefusal that names the first other pair.
     */
    requireSuspected: ({ expectedAt }: ScoreTail): ExcludedPair[] =>
      pairs.map(({ place, subjectA, subjectB }) => {
        const score = Math.max(...scoresOfSubjects(templates, scorer, { subjectA, subjectB }))
        const expected = expectedAt(score)
        if (expected >= 1)
          throw new CalibrationRefusal(
            `${place}: this pair is not a suspected duplicate, and only suspected duplicates can be ` +
              'excluded; remove the row',
          )
        return { subjectA, subjectB, score, expected }
      }),
  }
}

function keyOf(a: number, b: number, count: number): number {
  return Math.min(a, b) * count + Math.max(a, b)
}

/** A subject id takes precedence over an equal external id. */
function subjectFinder({ subjects }: GalleryTemplates) {
  const byExternalId = subjects
    .entries()
    .flatMap(([index, { externalId }]) =>
      externalId === null ? [] : [[externalId, index] as const],
    )
  const bySubjectId = subjects
    .entries()
    .map(([index, { subjectId }]) => [subjectId, index] as const)
  const indexes = new Map([...byExternalId, ...bySubjectId])
  return (id: string, place: string): number => {
    const index = indexes.get(id)
    if (index === undefined)
      throw new CalibrationRefusal(
        `${place}: the gallery has no comparable subject with the id ${id}`,
      )
    return index
  }
}
