import {
  countGrouped,
  nearestByIndex,
  nearestByScan,
  planEach,
  preferIndex,
  templatesWithoutVectors,
  type NearTemplate,
  type VectorFilter,
} from '../../../store/nearest.ts'
import type { StoredTemplate } from '../../../store/templates.ts'
import type { Reading } from '../../../store/tx.ts'
import { vectorFacts, type VectorFacts } from '../../../store/vectors.ts'
import type { Template } from '../../../vision/view.ts'
import { correctedScore } from '../../score.ts'
import { bestOfEachSubject, type Candidate, type SearchOptions } from '../candidate.ts'
import { probePoint, type ProbePoint } from './point.ts'
import type { Vectoring } from './vectors.ts'

export type RankOptions = Vectoring & {
  /** Up to so many vectors are all looked at; beyond, the index answers. */
  readonly exactMax: number
}

export type Asked = {
  readonly reading: Reading
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
export async function rankNearest(asked: Asked, options: RankOptions): Promise<Candidate[]> {
  const { reading, filter } = asked
  const { galleryId, modelId, groups } = filter
  if (groups?.length === 0) return []
  const [facts] = await Promise.all([vectorFacts(reading, galleryId, modelId), planEach(reading)])
  const spaces = await openSpaces(asked, facts, options)
  const vectors = facts.spaces.reduce((sum, space) => sum + space.vectors, 0)
  const others = facts.templates > vectors ? await scoreLacking(asked, options) : []
  const isLarge = vectors > options.exactMax && !(await isNarrow(asked, options.exactMax))
  const found = isLarge ? await rankByIndex(asked, spaces, options) : undefined
  const best = found ?? (await rankByScan(asked, spaces, options))
  return others.length > 0 ? bestOfEachSubject([...best, ...others], asked.limit) : best
}

/** A space of the gallery and the probe in it. */
type ProbedSpace = VectorFacts['spaces'][number] & { readonly point: ProbePoint }

function openSpaces(
  { reading, probe }: Asked,
  facts: VectorFacts,
  { spaces }: RankOptions,
): Promise<ProbedSpace[]> {
  const { modelId, vector } = probe
  const model = { modelId, dimensions: vector.length + 1 }
  return Promise.all(
    facts.spaces.map(async (space) => {
      const rotation = await spaces.rotation(reading, space.space, model)
      return { ...space, point: probePoint(probe, rotation) }
    }),
  )
}

/** Whether the groups leave so few subjects that all of them can be looked at. */
async function isNarrow({ reading, filter }: Asked, most: number): Promise<boolean> {
  const { galleryId, groups } = filter
  if (!groups) return false
  return (await countGrouped(reading, { galleryId, groups }, most + 1)) <= most
}

/** Fewer than in memory: each has to be sent and opened. */
function rowsAtFirst(limit: number): number {
  return Math.max(32, limit * 3)
}
const rowsGrowth = 8

async function rankByScan(
  asked: Asked,
  spaces: readonly ProbedSpace[],
  options: RankOptions,
): Promise<Candidate[]> {
  const { reading, filter, limit } = asked
  for (let rows = rowsAtFirst(limit); ; rows *= rowsGrowth) {
    const scored: Candidate[] = []
    let scoreOfOthers = Number.NEGATIVE_INFINITY
    for (const { space, point } of spaces) {
      const question = { ...filter, space, probe: point.halves, limit: rows }
      const near = await nearestByScan(reading, question)
      scored.push(...(await score(asked, near, options)))
      if (near.length === rows)
        scoreOfOthers = Math.max(scoreOfOthers, point.scoreAtMost(farthest(near)))
    }
    const candidates = bestOfEachSubject(scored, limit)
    const last = candidates[limit - 1]
    const isExact = last !== undefined && last.score > scoreOfOthers
    if (isExact || scoreOfOthers === Number.NEGATIVE_INFINITY) return candidates
  }
}

/** The larger, the fewer are missed, and the longer it takes; docs/search.md has the figures. */
const efSearch = 400
/** Beyond it a filter lets so few through that looking at each row is the better way. */
const tuplesMax = 40_000

/** @returns undefined when the index has not found enough. */
async function rankByIndex(
  asked: Asked,
  spaces: readonly ProbedSpace[],
  options: RankOptions,
): Promise<Candidate[] | undefined> {
  const { reading, filter, limit } = asked
  await preferIndex(reading, { efSearch, tuplesMax })
  for (let rows = rowsAtFirst(limit); rows <= tuplesMax; rows *= rowsGrowth) {
    const scored: Candidate[] = []
    for (const { space, point, vectors } of spaces) {
      const question = { ...filter, space, probe: point.halves, limit: Math.min(rows, vectors) }
      const near = await nearestByIndex(reading, question)
      if (near.length < question.limit) return undefined
      scored.push(...(await score(asked, near, options)))
    }
    const candidates = bestOfEachSubject(scored, limit)
    if (candidates.length === limit) return candidates
  }
  return undefined
}

function farthest(near: readonly NearTemplate[]): number {
  return near.reduce((most, { distance }) => Math.max(most, distance), Number.NEGATIVE_INFINITY)
}

/** Templates without a vector, stored by a server that searches in its memory: a few, if any. */
async function scoreLacking(asked: Asked, options: RankOptions): Promise<Candidate[]> {
  const { reading, filter, limit } = asked
  let best: Candidate[] = []
  for (let afterFaceId = ''; ;) {
    const page = { afterFaceId, limit: lackingAtATime }
    const rows = await templatesWithoutVectors(reading, filter, page)
    best = bestOfEachSubject([...best, ...(await score(asked, rows, options))], limit)
    const last = rows.at(-1)
    if (!last || rows.length < lackingAtATime) return best
    afterFaceId = last.faceId
  }
}

const lackingAtATime = 500

async function score(
  { reading, probe }: Asked,
  rows: readonly StoredTemplate[],
  { openStored }: RankOptions,
): Promise<Candidate[]> {
  const scored: Candidate[] = []
  for (const row of rows) {
    const template = await openStored(reading, row)
    if (!template) continue
    const { faceId, subjectId } = row
    scored.push({ templateId: faceId, subjectId, score: correctedScore(probe, template) })
    template.vector.fill(0)
  }
  return scored
}
