/** A subject that the probe may be, by the best of its templates. */
export type Candidate = {
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

export function rowsKeptAtFirst(limit: number): number {
  return Math.max(rowsKeptMin, limit * rowsKeptPerCandidate)
}

/** Each subject by the best of its templates, best first. */
export function bestOfEachSubject(scored: Iterable<Candidate>, limit: number): Candidate[] {
  const best = new Map<string, Candidate>()
  for (const candidate of scored) {
    const rival = best.get(candidate.subjectId)
    if (!rival || compare(candidate, rival) < 0) best.set(candidate.subjectId, candidate)
  }
  return [...best.values()].sort(compare).slice(0, limit)
}

/** Best first; templates that score the same stand in the order of their ids. */
function compare(a: Candidate, b: Candidate): number {
  return b.score - a.score || (a.templateId < b.templateId ? -1 : 1)
}
