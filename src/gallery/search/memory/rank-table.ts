import {
  bestOfEachSubject,
  initialRowsKept,
  rowsKeptGrowth,
  type ScoredSubject,
  type SearchOptions,
} from '../scored-subject.ts'
import { correctedScore } from '../../calibration/score.ts'
import type { TemplateVector } from '../../calibration/score.ts'
import type { TemplateTable } from '../table/template-table.ts'
import type { ScanPool } from './scan-pool.ts'

/**
 * The best subjects of a table, exactly as scoring every template in float32 would rank them.
 *
 * The scan keeps the rows with the highest upper bounds; these are scored exactly. If the last
 * candidate's score is above every bound that was turned away, nothing can be missing. Else (many
 * near-duplicates, many templates of one subject, a tiny or a huge vector) another pass keeps more.
 */
export function rankTable(
  table: TemplateTable,
  team: ScanPool,
  probe: TemplateVector,
  options: SearchOptions,
): ScoredSubject[] {
  const allowed = table.allowed(options.groups)
  if (!allowed.includes(1)) return []
  let rowsKept = initialRowsKept(options.limit)
  for (;;) {
    const { rows, otherBoundMax: boundOfOthers } = team.scan(table, {
      vector: probe.vector,
      allowed,
      rowsKept,
    })
    const candidates = bestOfEachSubject(scoreRows(table, rows, probe, options), options.limit)
    const last = candidates[options.limit - 1]
    const scoreOfOthers = boundOfOthers + probeTerms(probe)
    const isExact = last !== undefined && last.score > scoreOfOthers
    if (isExact || boundOfOthers === Number.NEGATIVE_INFINITY) return candidates
    rowsKept = Math.min(rowsKept * rowsKeptGrowth, table.size() + 1)
  }
}

function* scoreRows(
  table: TemplateTable,
  rows: Uint32Array,
  probe: TemplateVector,
  { excludeSubjectId }: SearchOptions,
): Generator<ScoredSubject> {
  for (const row of rows) {
    const stored = table.read(row)
    if (!stored || stored.subjectId === excludeSubjectId) continue
    const { templateId, subjectId } = stored
    yield { templateId, subjectId, score: correctedScore(probe, stored) }
  }
}

/** What the score has of the probe alone; the scan leaves it out. */
function probeTerms({ vector, density }: TemplateVector): number {
  let squared = 0
  for (const value of vector) squared += value * value
  return -squared - density / 2
}
