/** A subject that the probe may be, by the best of its templates. */
export type ScoredSubject = {
  readonly templateId: string
  readonly subjectId: string
  readonly score: number
}

export type SearchOptions = {
  /** Subjects at most. */
  readonly limit: number
  /** Only templates in one of these; all templates when left out, none when empty. */
  readonly groups?: readonly string[] | undefined
  /** A subject that is not to be found: its own duplicates are no news. */
  readonly excludeSubjectId?: string | undefined
}

/** The largest limit; beyond it, listing would be the question, not searching. */
export const limitMax = 1_000

/** Rows scored exactly at first; so many that one pass is nearly always enough. */
const rowsKeptMin = 64
const rowsKeptPerCandidate = 4
/** How much more each further pass keeps: five passes reach a million rows. */
export const rowsKeptGrowth = 8

export function initialRowsKept(limit: number): number {
  return Math.max(rowsKeptMin, limit * rowsKeptPerCandidate)
}

/** Each subject by the best of its templates, best first. */
export function bestOfEachSubject(scored: Iterable<ScoredSubject>, limit: number): ScoredSubject[] {
  const best = new Map<string, ScoredSubject>()
  for (const candidate of scored) {
    const rival = best.get(candidate.subjectId)
    if (!rival || compareScores(candidate, rival) < 0) best.set(candidate.subjectId, candidate)
  }
  return [...best.values()].sort(compareScores).slice(0, limit)
}

/** Best first; templates that score the same stand in the order of their ids. */
function compareScores(a: ScoredSubject, b: ScoredSubject): number {
  return b.score - a.score || (a.templateId < b.templateId ? -1 : 1)
}
