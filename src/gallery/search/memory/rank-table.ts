import {
  bestOfEachSubject,
  initialRowsKept,
  rowsKeptGrowth,
  scoreSubject,
  type ScoredSubject,
  type IndexSearchOptions,
} from '../scored-subject.ts'
import type { TemplateVector } from '../../calibration/similarity.ts'
import type { TemplateTable } from '../table/template-table.ts'
import type { ScanPool } from './scan-pool.ts'

/**
 * Returns the best subjects of a table, with the same result as scoring every template in float32.
 *
 * The scan keeps the rows with the highest upper bounds, which are then scored exactly. If the score
 * of the last candidate is above the bounds of all other rows, no candidate can be missing.
 * Otherwise another scan keeps more rows. This happens with many near-duplicates, many templates of
 * one subject, or a very small or very large vector.
 */
export function rankTable(
  table: TemplateTable,
  scanPool: ScanPool,
  probe: TemplateVector,
  options: IndexSearchOptions,
): ScoredSubject[] {
  const allowed = table.allowed(options.groups)
  if (!allowed.includes(1)) return []
  let rowsKept = initialRowsKept(options.limit)
  for (;;) {
    const { vector } = probe
    const { rows, otherBoundMax } = scanPool.scan(table, { vector, allowed, rowsKept })
    const candidates = bestOfEachSubject(scoreRows(table, rows, probe, options), options.limit)
    const last = candidates[options.limit - 1]
    const otherScoreMax = otherBoundMax + probeTermsMax(probe)
    const isExact = last !== undefined && last.score > otherScoreMax
    if (isExact || otherBoundMax === Number.NEGATIVE_INFINITY) return candidates
    rowsKept = Math.min(rowsKept * rowsKeptGrowth, table.size() + 1)
  }
}

function* scoreRows(
  table: TemplateTable,
  rows: Uint32Array,
  probe: TemplateVector,
  { excludeSubjectId, nowMs = Number.NEGATIVE_INFINITY }: IndexSearchOptions,
): Generator<ScoredSubject> {
  for (const row of rows) {
    const stored = table.read(row)
    if (!stored || stored.subjectId === excludeSubjectId) continue
    const { expiresAtMs = Number.POSITIVE_INFINITY } = stored
    if (expiresAtMs <= nowMs) continue
    yield scoreSubject(stored, probe, stored)
  }
}

/**
 * A score of up to 1,024 dimensions is a sum that is rounded by at most 2⁻⁴³ of its size, which is at
 * most twice the squared lengths of both vectors. This is that part of the rounding that depends on the
 * probe, and the rounding of the terms of the probe. Bounds include the part of the row.
 */
const roundingMargin = 2 ** -41

/**
 * Returns an upper limit of the terms of a computed score that depend on the probe only; bounds do not
 * include them. Without the margin, a very large probe has equal scores with rows whose bounds differ.
 */
function probeTermsMax({ vector, density }: TemplateVector): number {
  let squared = 0
  for (const value of vector) squared += value * value
  return -squared - density / 2 + (squared + Math.abs(density)) * roundingMargin
}
