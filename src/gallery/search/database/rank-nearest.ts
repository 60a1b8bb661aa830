import {
  countSubjectsInGroups,
  nearestByIndex,
  nearestByScan,
  forceCustomPlans,
  preferIndex,
  findTemplatesWithoutVectors,
  type NearestTemplate,
} from '../../../store/gallery/nearest.ts'
import type { StoredTemplate } from '../../../store/gallery/templates.ts'
import type { ReadTx } from '../../../store/tx.ts'
import { findVectorCoverage, type VectorFilter } from '../../../store/gallery/vectors.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { DecryptStoredTemplate } from '../../keys/decrypt-stored-template.ts'
import {
  bestOfEachSubject,
  scoreSubject,
  type ScoredSubject,
  type SearchOptions,
} from '../scored-subject.ts'
import { augmentProbe } from './augmented-vector.ts'

export type RankOptions = {
  readonly decryptStored: DecryptStoredTemplate
  /** Up to this many vectors are all scanned; above it, the index is used. */
  readonly exactMax: number
}

export type RankQuery = {
  readonly reading: ReadTx
  readonly filter: VectorFilter
  readonly probe: Template
  readonly limit: SearchOptions['limit']
}

/**
 * Returns the best subjects of a gallery. The vectors only select which templates to decrypt; the
 * templates themselves are then scored in float32.
 *
 * A scan is provably exact: it returns the same result as scoring every template, as in memory. The
 * rounding error of each vector is stored. As long as a row that was left out could score higher
 * than the last candidate, the scan is repeated with more rows. The index gives no such proof.
 */
export async function rankNearest(
  query: RankQuery,
  options: RankOptions,
): Promise<ScoredSubject[]> {
  const { reading, filter, limit } = query
  const { galleryId, modelId, groups } = filter
  if (groups?.length === 0) return []
  const [{ templates, vectors }] = await Promise.all([
    findVectorCoverage(reading, galleryId, modelId),
    forceCustomPlans(reading),
  ])
  const withoutVectors =
    templates > vectors ? await scoreTemplatesWithoutVectors(query, options) : []
  const withVectors = vectors > 0 ? await rankVectors(query, vectors, options) : []
  return bestOfEachSubject([...withVectors, ...withoutVectors], limit)
}

async function rankVectors(
  query: RankQuery,
  vectors: number,
  options: RankOptions,
): Promise<ScoredSubject[]> {
  const { exactMax } = options
  const useIndex = vectors > exactMax && !(await isNarrowFilter(query, exactMax))
  const indexed = useIndex ? await rankByIndex(query, vectors, options) : undefined
  return indexed ?? rankByScan(query, options)
}

/** Whether the groups contain so few subjects that all of them can be scanned. */
async function isNarrowFilter({ reading, filter }: RankQuery, max: number): Promise<boolean> {
  const { galleryId, groups } = filter
  if (!groups) return false
  return (await countSubjectsInGroups(reading, { galleryId, groups }, max + 1)) <= max
}

/** Fewer than in memory: each row must be transferred and decrypted. */
function initialRows(limit: number): number {
  return Math.max(32, limit * 3)
}
const rowsGrowth = 8

async function rankByScan(query: RankQuery, options: RankOptions): Promise<ScoredSubject[]> {
  const { reading, filter, probe, limit } = query
  const augmented = augmentProbe(probe)
  for (let rows = initialRows(limit); ; rows *= rowsGrowth) {
    const nearestQuery = { ...filter, probe: augmented.float16, limit: rows }
    const nearest = await nearestByScan(reading, nearestQuery)
    const candidates = bestOfEachSubject(await scoreTemplates(query, nearest, options), limit)
    if (nearest.length < rows) return candidates
    const last = candidates[limit - 1]
    if (last && last.score > augmented.scoreMaxAt(largestDistance(nearest))) return candidates
  }
}

/** A larger value misses fewer subjects and takes longer; see docs/recognition/search.md. */
const efSearch = 400
/** If the filter accepts so few rows that the index must read more than this, a scan is faster. */
const tuplesMax = 40_000

/** Returns undefined if the index did not find enough subjects. */
async function rankByIndex(
  query: RankQuery,
  vectors: number,
  options: RankOptions,
): Promise<ScoredSubject[] | undefined> {
  const { reading, filter, probe, limit } = query
  const { float16 } = augmentProbe(probe)
  await preferIndex(reading, { efSearch, tuplesMax })
  for (let rows = initialRows(limit); rows <= tuplesMax; rows *= rowsGrowth) {
    const nearestQuery = { ...filter, probe: float16, limit: Math.min(rows, vectors) }
    const nearest = await nearestByIndex(reading, nearestQuery)
    if (nearest.length < nearestQuery.limit) return undefined
    const candidates = bestOfEachSubject(await scoreTemplates(query, nearest, options), limit)
    if (candidates.length === limit) return candidates
  }
  return undefined
}

function largestDistance(nearest: readonly NearestTemplate[]): number {
  return nearest.reduce((max, { distance }) => Math.max(max, distance), Number.NEGATIVE_INFINITY)
}

/** Scores templates that have no vector. A server that searches in memory stores such templates. */
async function scoreTemplatesWithoutVectors(
  query: RankQuery,
  options: RankOptions,
): Promise<ScoredSubject[]> {
  const { reading, filter, limit } = query
  let best: ScoredSubject[] = []
  for (let afterFaceId = ''; ;) {
    const page = { afterFaceId, limit: missingBatchSize }
    const rows = await findTemplatesWithoutVectors(reading, filter, page)
    best = bestOfEachSubject([...best, ...(await scoreTemplates(query, rows, options))], limit)
    const last = rows.at(-1)
    if (!last || rows.length < missingBatchSize) return best
    afterFaceId = last.faceId
  }
}

const missingBatchSize = 500

async function scoreTemplates(
  { reading, probe }: RankQuery,
  rows: readonly StoredTemplate[],
  { decryptStored }: RankOptions,
): Promise<ScoredSubject[]> {
  const scored: ScoredSubject[] = []
  for (const row of rows) {
    const template = await decryptStored(reading, row)
    if (!template) continue
    scored.push(scoreSubject(row, probe, template))
    template.vector.fill(0)
  }
  return scored
}
