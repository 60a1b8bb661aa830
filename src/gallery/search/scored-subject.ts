import { correctedScore, isIdentical, type TemplateVector } from '../calibration/similarity.ts'
import type { TemplateTable } from './table/template-table.ts'
import type { ScanPool } from './memory/scan-pool.ts'

/** A candidate of a search: a subject with the score of its template. */
export type ScoredSubject = {
  readonly subjectId: string
  readonly score: number
  /** Whether the template is identical to the probe. */
  readonly isIdentical: boolean
  /** The face, if the template was merged from one only. */
  readonly faceId?: string | undefined
  /** Whether any subject of the gallery had denials when the search began. */
  readonly mayBeDenied?: boolean
}

/** A candidate with its face that is most similar to the probe. */
export type SearchCandidate = ScoredSubject & { readonly faceId: string }

/** Scores the template of a subject exactly. */
export function scoreSubject(subjectId: string, probe: TemplateVector, stored: TemplateVector) {
  const score = correctedScore(probe, stored)
  return { subjectId, score, isIdentical: isIdentical(probe, stored) }
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
const rowsKeptGrowth = 8

/** Returns the subjects with the best scores, best first; equal scores are ordered by subject id. */
export function bestSubjects<Scored extends ScoredSubject>(
  scored: Iterable<Scored>,
  limit: number,
): Scored[] {
  const compare = (a: Scored, b: Scored): number =>
    b.score - a.score || (a.subjectId < b.subjectId ? -1 : 1)
  return [...scored].sort(compare).slice(0, limit)
}

/**
 * Returns the best subjects of a table, with the same result as scoring every row in float32.
 *
 * The scan keeps the rows with the highest upper bounds, which are then scored exactly. If the score
 * of the last candidate is above the bounds of all other rows, no candidate can be missing.
 * Otherwise another scan keeps more rows. This happens with many near-duplicates, or a very small or
 * very large vector.
 */
export function rankTable(
  table: TemplateTable,
  scanPool: ScanPool,
  probe: TemplateVector,
  options: IndexSearchOptions,
): ScoredSubject[] {
  const allowed = table.allowed(options.groups)
  if (!allowed.includes(1)) return []
  let rowsKept = Math.max(rowsKeptMin, options.limit * rowsKeptPerCandidate)
  for (;;) {
    const { vector } = probe
    const { rows, otherBoundMax } = scanPool.scan(table, { vector, allowed, rowsKept })
    const candidates = bestSubjects(scoreRows(table, rows, probe, options), options.limit)
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
    const { subjectId, faceId } = stored
    yield { ...scoreSubject(subjectId, probe, stored), faceId }
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
