import {
  bestOfEachSubject,
  rowsKeptAtFirst,
  rowsKeptGrowth,
  type Candidate,
  type SearchOptions,
} from './candidate.ts'
import { correctedScore } from '../score.ts'
import type { Face } from '../score.ts'
import type { Table } from './table.ts'
import type { Team } from './team.ts'

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
  let rowsKept = rowsKeptAtFirst(options.limit)
  for (;;) {
    const { rows, boundOfOthers } = team.scan(table, { vector: probe.vector, allowed, rowsKept })
    const candidates = bestOfEachSubject(scored(table, rows, probe, options), options.limit)
    const last = candidates[options.limit - 1]
    const scoreOfOthers = boundOfOthers + ownTerms(probe)
    const isExact = last !== undefined && last.score > scoreOfOthers
    if (isExact || boundOfOthers === Number.NEGATIVE_INFINITY) return candidates
    rowsKept = Math.min(rowsKept * rowsKeptGrowth, table.size() + 1)
  }
}

function* scored(
  table: Table,
  rows: Uint32Array,
  probe: Face,
  { excludeSubjectId }: SearchOptions,
): Generator<Candidate> {
  for (const row of rows) {
    const stored = table.read(row)
    if (!stored || stored.subjectId === excludeSubjectId) continue
    const { templateId, subjectId } = stored
    yield { templateId, subjectId, score: correctedScore(probe, stored) }
  }
}

/** What the score has of the probe alone; the scan leaves it out. */
function ownTerms({ vector, density }: Face): number {
  let squared = 0
  for (const value of vector) squared += value * value
  return -squared - density / 2
}
