import { correctedScore, isIdentical, type TemplateVector } from '../calibration/similarity.ts'

/** A candidate of a search: a subject with the score of its best template. */
export type ScoredSubject = {
  readonly faceId: string
  readonly subjectId: string
  readonly score: number
  /** Whether that template is identical to the probe. */
  readonly isIdentical: boolean
}

/** Scores a stored template of a subject exactly. */
export function scoreSubject(
  { faceId, subjectId }: Pick<ScoredSubject, 'faceId' | 'subjectId'>,
  probe: TemplateVector,
  stored: TemplateVector,
): ScoredSubject {
  const score = correctedScore(probe, stored)
  return { faceId, subjectId, score, isIdentical: isIdentical(probe, stored) }
}

export type SearchOptions = {
  /** Maximum number of subjects. */
  readonly limit: number
  /** Searches only subjects in one of these groups; all if omitted, none if empty. */
  readonly groups?: readonly string[] | undefined
  /** Excludes a subject, for example from the search for its duplicates. */
  readonly excludeSubjectId?: string | undefined
}

/** A search at a time: subjects that have expired at it are left out. */
export type TimedSearchOptions = SearchOptions & { readonly nowMs: number }

/** Without a time, expired subjects are included. */
export type IndexSearchOptions = SearchOptions & Partial<TimedSearchOptions>

/** The largest limit. To get more subjects, list the gallery instead. */
export const limitMax = 1_000

/** Rows that the first scan keeps; enough that a second scan is rarely needed. */
const rowsKeptMin = 64
const rowsKeptPerCandidate = 4
/** Growth factor of each further scan: five scans reach a million rows. */
export const rowsKeptGrowth = 8

export function initialRowsKept(limit: number): number {
  return Math.max(rowsKeptMin, limit * rowsKeptPerCandidate)
}

/** Returns each subject with its best score, best first. */
export function bestOfEachSubject(scored: Iterable<ScoredSubject>, limit: number): ScoredSubject[] {
  const bestBySubject = new Map<string, ScoredSubject>()
  for (const candidate of scored) {
    const best = bestBySubject.get(candidate.subjectId)
    if (!best || compareScores(candidate, best) < 0)
      bestBySubject.set(candidate.subjectId, candidate)
  }
  return [...bestBySubject.values()].sort(compareScores).slice(0, limit)
}

/** Best first; equal scores are ordered by face id. */
function compareScores(a: ScoredSubject, b: ScoredSubject): number {
  return b.score - a.score || (a.faceId < b.faceId ? -1 : 1)
}
