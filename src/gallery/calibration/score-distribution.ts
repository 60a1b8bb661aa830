import { countBelow } from './measure/sorted-scores.ts'
import type { GalleryTemplates } from './read-templates.ts'

/** How many pairs have which score: pairs of different subjects, and of templates of one subject. */
export type ScoreDistribution = ReturnType<typeof scoreDistribution>

const binCount = 60

/** More pairs of one subject than this are left out; a chart does not need them. */
const samePairsMax = 200_000

/** @param different the scores of pairs of different subjects, ascending. */
export function scoreDistribution(templates: GalleryTemplates, different: Float32Array) {
  const same = sameSubjectScores(templates).sort()
  const lowest = Math.min(different[0] ?? Infinity, same[0] ?? Infinity)
  const highest = Math.max(different.at(-1) ?? -Infinity, same.at(-1) ?? -Infinity)
  if (lowest > highest) return { edges: [], different: [], same: [] }
  const width = Math.max(highest - lowest, Number.EPSILON) / binCount
  /** The lower edge of each bin, followed by the upper edge of the last bin. */
  const edges = Array.from({ length: binCount + 1 }, (_, index) => lowest + index * width)
  return { edges, different: countBins(different, edges), same: countBins(same, edges) }
}

/** The last bin contains its upper edge. */
function countBins(sorted: Float32Array, edges: readonly number[]): number[] {
  const below = edges.map((edge, index) =>
    index === edges.length - 1 ? sorted.length : countBelow(sorted, edge),
  )
  return below.slice(1).map((count, index) => count - (below[index] ?? 0))
}

function sameSubjectScores(templates: GalleryTemplates): Float32Array {
  const bySubject = Map.groupBy(templates.subjectOf.keys(), (row) => templates.subjectOf[row] ?? 0)
  const scores: number[] = []
  for (const rows of bySubject.values())
    for (const [index, a] of rows.entries())
      for (const b of rows.slice(0, index)) {
        if (scores.length >= samePairsMax) return Float32Array.from(scores)
        scores.push(scoreOfPair(templates, a, b))
      }
  return Float32Array.from(scores)
}

/** Scores two templates as the service does: −|a−b|² − ½(density + density). */
function scoreOfPair({ vectors, densities, dimensions }: GalleryTemplates, a: number, b: number) {
  let squared = 0
  for (let at = 0; at < dimensions; at++)
    squared += ((vectors[a * dimensions + at] ?? 0) - (vectors[b * dimensions + at] ?? 0)) ** 2
  return -squared - ((densities[a] ?? 0) + (densities[b] ?? 0)) / 2
}
