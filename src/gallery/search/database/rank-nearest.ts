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
import {
  findVectorCoverage,
  type VectorCoverage,
  type VectorFilter,
} from '../../../store/gallery/vectors.ts'
import type { Template } from '../../../vision/image-analysis.ts'
import { correctedScore } from '../../calibration/score.ts'
import { bestOfEachSubject, type ScoredSubject, type SearchOptions } from '../scored-subject.ts'
import { augmentProbe, type AugmentedProbe } from './augmented-vector.ts'
import type { VectorOptions } from './template-vectors.ts'

export type RankOptions = VectorOptions & {
  /** Up to so many vectors are all looked at; beyond, the index answers. */
  readonly exactMax: number
}

export type RankQuery = {
  readonly reading: ReadTx
  readonly filter: VectorFilter
  readonly probe: Template
  readonly limit: SearchOptions['limit']
}

/**
 * The best subjects of a gallery, scored in float32 by their templates, not by their vectors: those
 * only say which templates to look at. Of a scan the answer is that of scoring every template, and
 * as in memory by proof: what the vectors lost is known, and as long as a row that was left out could
 * still score higher than the last candidate, more are looked at. The index gives no such proof.
 */
export async function rankNearest(
  asked: RankQuery,
  options: RankOptions,
): Promise<ScoredSubject[]> {
  const { reading, filter } = asked
  const { galleryId, modelId, groups } = filter
  if (groups?.length === 0) return []
  const [facts] = await Promise.all([
    findVectorCoverage(reading, galleryId, modelId),
    forceCustomPlans(reading),
  ])
  const spaces = await openSpaces(asked, facts, options)
  const vectors = facts.spaces.reduce((sum, space) => sum + space.vectors, 0)
  const others = facts.templates > vectors ? await scoreTemplatesWithoutVectors(asked, options) : []
  const isLarge = vectors > options.exactMax && !(await isNarrowFilter(asked, options.exactMax))
  const found = isLarge ? await rankByIndex(asked, spaces, options) : undefined
  const best = found ?? (await rankByScan(asked, spaces, options))
  return others.length > 0 ? bestOfEachSubject([...best, ...others], asked.limit) : best
}

/** A space of the gallery and the probe in it. */
type ProbedSpace = VectorCoverage['spaces'][number] & { readonly point: AugmentedProbe }

function openSpaces(
  { reading, probe }: RankQuery,
  facts: VectorCoverage,
  { spaces }: RankOptions,
): Promise<ProbedSpace[]> {
  const { modelId, vector } = probe
  const model = { modelId, dimensions: vector.length + 1 }
  return Promise.all(
    facts.spaces.map(async (space) => {
      const rotation = await spaces.rotation(reading, space.space, model)
      return { ...space, point: augmentProbe(probe, rotation) }
    }),
  )
}

/** Whether the groups leave so few subjects that all of them can be looked at. */
async function isNarrowFilter({ reading, filter }: RankQuery, most: number): Promise<boolean> {
  const { galleryId, groups } = filter
  if (!groups) return false
  return (await countSubjectsInGroups(reading, { galleryId, groups }, most + 1)) <= most
}

/** Fewer than in memory: each has to be sent and opened. */
function initialRows(limit: number): number {
  return Math.max(32, limit * 3)
}
const rowsGrowth = 8

async function rankByScan(
  asked: RankQuery,
  spaces: readonly ProbedSpace[],
  options: RankOptions,
): Promise<ScoredSubject[]> {
  const { reading, filter, limit } = asked
  for (let rows = initialRows(limit); ; rows *= rowsGrowth) {
    const scored: ScoredSubject[] = []
    let scoreOfOthers = Number.NEGATIVE_INFINITY
    for (const { space, point } of spaces) {
      const question = { ...filter, space, probe: point.float16, limit: rows }
      const near = await nearestByScan(reading, question)
      scored.push(...(await scoreTemplates(asked, near, options)))
      if (near.length === rows)
        scoreOfOthers = Math.max(scoreOfOthers, point.scoreMaxAt(largestDistance(near)))
    }
    const candidates = bestOfEachSubject(scored, limit)
    const last = candidates[limit - 1]
    const isExact = last !== undefined && last.score > scoreOfOthers
    if (isExact || scoreOfOthers === Number.NEGATIVE_INFINITY) return candidates
  }
}

/** The larger, the fewer are missed, and the longer it takes; docs/recognition/search.md has the figures. */
const efSearch = 400
/** Beyond it a filter lets so few through that looking at each row is the better way. */
const tuplesMax = 40_000

/** @returns undefined when the index has not found enough. */
async function rankByIndex(
  asked: RankQuery,
  spaces: readonly ProbedSpace[],
  options: RankOptions,
): Promise<ScoredSubject[] | undefined> {
  const { reading, filter, limit } = asked
  await preferIndex(reading, { efSearch, tuplesMax })
  for (let rows = initialRows(limit); rows <= tuplesMax; rows *= rowsGrowth) {
    const scored: ScoredSubject[] = []
    for (const { space, point, vectors } of spaces) {
      const question = { ...filter, space, probe: point.float16, limit: Math.min(rows, vectors) }
      const near = await nearestByIndex(reading, question)
      if (near.length < question.limit) return undefined
      scored.push(...(await scoreTemplates(asked, near, options)))
    }
    const candidates = bestOfEachSubject(scored, limit)
    if (candidates.length === limit) return candidates
  }
  return undefined
}

function largestDistance(near: readonly NearestTemplate[]): number {
  return near.reduce((most, { distance }) => Math.max(most, distance), Number.NEGATIVE_INFINITY)
}

/** Templates without a vector, stored by a server that searches in its memory: a few, if any. */
async function scoreTemplatesWithoutVectors(
  asked: RankQuery,
  options: RankOptions,
): Promise<ScoredSubject[]> {
  const { reading, filter, limit } = asked
  let best: ScoredSubject[] = []
  for (let afterFaceId = ''; ;) {
    const page = { afterFaceId, limit: missingBatchSize }
    const rows = await findTemplatesWithoutVectors(reading, filter, page)
    best = bestOfEachSubject([...best, ...(await scoreTemplates(asked, rows, options))], limit)
    const last = rows.at(-1)
    if (!last || rows.length < missingBatchSize) return best
    afterFaceId = last.faceId
  }
}

const missingBatchSize = 500

async function scoreTemplates(
  { reading, probe }: RankQuery,
  rows: readonly StoredTemplate[],
  { decryptStored: openStored }: RankOptions,
): Promise<ScoredSubject[]> {
  const scored: ScoredSubject[] = []
  for (const row of rows) {
    const template = await openStored(reading, row)
    if (!template) continue
    const { faceId, subjectId } = row
    scored.push({ templateId: faceId, subjectId, score: correctedScore(probe, template) })
    template.vector.fill(0)
  }
  return scored
}
