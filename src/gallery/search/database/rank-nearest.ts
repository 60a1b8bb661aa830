import type { ReadTx, Tx } from '../../../store/database.ts'
import {
  type NearestTemplate,
  countSubjectsInGroups,
  findSubjectsWithoutVectors,
  forceCustomPlans,
  nearestByIndex,
  nearestByScan,
  preferIndex,
} from '../../../store/gallery/nearest.ts'
import { type StoredTemplate, findSubjectTemplates } from '../../../store/gallery/templates.ts'
import {
  type NewVector,
  type VectorFilter,
  type VectorSubjects,
  findVectorCoverage,
  replaceVectors,
} from '../../../store/gallery/vectors.ts'
import type { Template } from '../../../vision/embed/template.ts'
import type { Calibrations } from '../../calibration/calibrations.ts'
import type { DecryptStoredTemplate } from '../../keys/template-encryption.ts'
import { type FaceTemplate, mergeFaces, nearestFace, readFaceTemplates } from '../../match.ts'
import {
  type SearchCandidate,
  type SearchOptions,
  bestSubjects,
  scoreSubject,
} from '../scored-subject.ts'
import { augmentProbe, augmentRow } from './augmented-vector.ts'

type RankOptions = {
  readonly decryptStored: DecryptStoredTemplate
  readonly calibrations: Calibrations
  /** Up to this many subjects are all scanned; above it, the index is used. */
  readonly exactMax: number
}

type RankQuery = {
  readonly reading: ReadTx
  readonly filter: VectorFilter
  readonly probe: Template
  readonly limit: SearchOptions['limit']
}

/**
 * Returns the best subjects of a gallery. The vectors only select whose templates to decrypt; the
 * templates themselves are then merged and scored in float32.
 *
 * A scan is provably exact: it returns the same result as scoring every subject, as in memory. The
 * rounding error of each vector is stored. As long as a row that was left out could score higher
 * than the last candidate, the scan is repeated with more rows. The index gives no such proof.
 */
export async function rankNearest(query: RankQuery, options: RankOptions) {
  const { reading, filter, limit } = query
  const { galleryId, modelId, groups, preferredModelIds } = filter
  if (groups?.length === 0) return []
  const [{ subjectsMax, hasStale, hasDenials }] = await Promise.all([
    findVectorCoverage(reading, galleryId, modelId),
    forceCustomPlans(reading),
  ])
  if (subjectsMax === 0) return []
  const areAll = !hasStale && preferredModelIds.length === 0
  const withoutVectors = areAll ? [] : await scoreSubjectsWithoutVectors(query, options)
  const withVectors = await rankVectors(query, subjectsMax, options)
  const best = bestSubjects([...withVectors, ...withoutVectors], limit)
  return best.map((subject) => ({ ...subject, mayBeDenied: hasDenials }))
}

async function rankVectors(query: RankQuery, subjectsMax: number, options: RankOptions) {
  const { exactMax } = options
  const useIndex = subjectsMax > exactMax && !(await isNarrowFilter(query, exactMax))
  const indexed = useIndex ? await rankByIndex(query, subjectsMax, options) : undefined
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

async function rankByScan(query: RankQuery, options: RankOptions): Promise<SearchCandidate[]> {
  const { reading, filter, probe, limit } = query
  const augmented = augmentProbe(probe)
  for (let rows = initialRows(limit); ; rows *= rowsGrowth) {
    const nearestQuery = { ...filter, probe: augmented.float16, limit: rows }
    const nearest = await nearestByScan(reading, nearestQuery)
    const scored = await scoreSubjects(query, nearest, options)
    const candidates = bestSubjects(scored, limit)
    if (countSubjects(nearest) < rows) return candidates
    const last = candidates[limit - 1]
    if (last && last.score > augmented.scoreMaxAt(largestDistance(nearest))) return candidates
  }
}

/** A larger value misses fewer subjects and takes longer; see docs/recognition/search.md. */
const efSearch = 400
/** If the filter accepts so few rows that the index must read more than this, a scan is faster. */
const tuplesMax = 40_000

/** Returns undefined if the index did not find enough subjects. */
async function rankByIndex(query: RankQuery, subjectsMax: number, options: RankOptions) {
  const { reading, filter, probe, limit } = query
  const { float16 } = augmentProbe(probe)
  await preferIndex(reading, { efSearch, tuplesMax })
  for (let rows = initialRows(limit); rows <= tuplesMax; rows *= rowsGrowth) {
    const nearestQuery = { ...filter, probe: float16, limit: Math.min(rows, subjectsMax) }
    const nearest = await nearestByIndex(reading, nearestQuery)
    if (countSubjects(nearest) < nearestQuery.limit) return undefined
    const candidates = bestSubjects(await scoreSubjects(query, nearest, options), limit)
    if (candidates.length === limit) return candidates
  }
  return undefined
}

function largestDistance(nearest: readonly NearestTemplate[]): number {
  return nearest.reduce((max, { distance }) => Math.max(max, distance), Number.NEGATIVE_INFINITY)
}

function countSubjects(nearest: readonly NearestTemplate[]): number {
  return new Set(nearest.map(({ subjectId }) => subjectId)).size
}

/** Scores subjects that no vector represents, see `findSubjectsWithoutVectors`. */
async function scoreSubjectsWithoutVectors(query: RankQuery, options: RankOptions) {
  const { reading, filter, limit } = query
  let best: SearchCandidate[] = []
  for (let afterSubjectId = ''; ;) {
    const page = { afterSubjectId, limit: missingBatchSize }
    const subjectIds = await findSubjectsWithoutVectors(reading, filter, page)
    const templates = await findSubjectTemplates(reading, subjectIds)
    best = bestSubjects([...best, ...(await scoreSubjects(query, templates, options))], limit)
    const last = subjectIds.at(-1)
    if (last === undefined || subjectIds.length < missingBatchSize) return best
    afterSubjectId = last
  }
}

const missingBatchSize = 500

/** @param rows the templates of subjects, of all models. */
async function scoreSubjects(
  { reading, probe }: RankQuery,
  rows: readonly StoredTemplate[],
  { decryptStored, calibrations }: RankOptions,
): Promise<SearchCandidate[]> {
  const options = { decryptStored, models: calibrations, modelIds: [probe.modelId] }
  const scored: SearchCandidate[] = []
  for (const [subjectId, stored] of Map.groupBy(rows, (row) => row.subjectId)) {
    const faces = await readFaceTemplates(reading, stored, options)
    const [merged] = mergeFaces(faces)
    const nearest = nearestFace(faces, probe)
    if (merged && nearest)
      scored.push({ ...scoreSubject(subjectId, probe, merged), faceId: nearest.faceId })
    for (const { vector } of faces) vector.fill(0)
  }
  return scored
}

/**
 * Stores the vectors of subjects, one per model of their templates, in place of all that they have. It
 * must run in the transaction that changes the templates, with the gallery locked.
 *
 * A vector contains all faces with a template of its model, so that it is the same for servers with
 * other models. If none of these templates can be decrypted, it has no coordinates and matches nothing.
 */
export async function storeVectors(
  tx: Tx,
  subjects: VectorSubjects,
  decryptStored: DecryptStoredTemplate,
): Promise<void> {
  const stored = await findSubjectTemplates(tx, subjects.subjectIds)
  const sorted = stored.toSorted((a, b) => (a.faceId < b.faceId ? -1 : 1))
  const vectors: NewVector[] = []
  for (const [subjectId, own] of Map.groupBy(sorted, (row) => row.subjectId))
    for (const [modelId, ofModel] of Map.groupBy(own, (row) => row.modelId)) {
      const faces: FaceTemplate[] = []
      for (const row of ofModel) {
        const template = await decryptStored(tx, row)
        if (template) faces.push({ faceId: row.faceId, ...template })
      }
      const [merged] = mergeFaces(faces)
      const { float16 = null, slack = null } = merged ? augmentRow(merged) : {}
      vectors.push({ subjectId, modelId, slack, embedding: float16 })
      for (const { vector } of faces) vector.fill(0)
    }
  await replaceVectors(tx, subjects, vectors)
}
