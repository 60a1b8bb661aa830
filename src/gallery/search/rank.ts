import { correctedScore } from '../score.ts'
import type { Face } from '../score.ts'
import type { Table } from './table.ts'
import type { Team } from './team.ts'

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

/** Rows scored exactly at first; so many that one pass is nearly always enough. */
const rowsKeptMin = 64
const rowsKeptPerCandidate = 4
/** How much more each further pass keeps: five passes reach a million rows. */
const rowsKeptGrowth = 8

/**
 * The best subjects of a table, exactly as scoring every template in float32 would rank them.
 *
 * The scan keeps the rows with the highest upper bounds; these are scored exactly. If the last
 * candidate's score is above every bound that was turned away, nothing can be missing. Else (many
 * near-duplicates, many templates of one subject, a tiny or a huge vector) another pass keeps more.
 */
export function rank(table: Table, team: Team, probe: Face, options: SearchOptions): Candidate[] {
  const allowed = table.allowed(options.groups)
  if (!allowed.includes(1)) return []
  let rowsKept = Math.max(rowsKeptMin, options.limit * rowsKeptPerCandidate)
  for (;;) {
    const { rows, boundOfOthers } = team.scan(table, { vector: probe.vector, allowed, rowsKept })
    const candidates = bestOfEachSubject(table, rows, probe, options)
    const last = candidates[options.limit - 1]
    const scoreOfOthers = boundOfOthers + ownTerms(probe)
    const isExact = last !== undefined && last.score > scoreOfOthers
    if (isExact || boundOfOthers === Number.NEGATIVE_INFINITY) return candidates
    rowsKept = Math.min(rowsKept * rowsKeptGrowth, table.size() + 1)
  }
}

function bestOfEachSubject(
  table: Table,
  rows: Uint32Array,
  probe: Face,
  { limit, excludeSubjectId }: SearchOptions,
): Candidate[] {
  const best = new Map<string, Candidate>()
  for (const row of rows) {
    const stored = table.read(row)
    if (!stored || stored.subjectId === excludeSubjectId) continue
    const { templateId, subjectId } = stored
    const candidate = { templateId, subjectId, score: correctedScore(probe, stored) }
    const rival = best.get(subjectId)
    if (!rival || compare(candidate, rival) < 0) best.set(subjectId, candidate)
  }
  return [...best.values()].sort(compare).slice(0, limit)
}

/** Best first; templates that score the same stand in the order of their ids. */
function compare(a: Candidate, b: Candidate): number {
  return b.score - a.score || (a.templateId < b.templateId ? -1 : 1)
}

/** What the score has of the probe alone; the scan leaves it out. */
function ownTerms({ vector, density }: Face): number {
  let squared = 0
  for (const value of vector) squared += value * value
  return -squared - density / 2
}
