import { seededRandom, shuffled } from '../../lib/random/seeded-random.ts'
import type { DecisionLevel } from './decision-levels.ts'
import { scoreAtFar, shareAbove } from '../../gallery/calibration/measure/sorted-scores.ts'
import type { PersonTemplate, Scorer } from './pair-scores.ts'

/** Search results in a gallery with one image of each person. */
export type SearchMetrics = ReturnType<typeof metricsOf>

export type MeasureSearchOptions = {
  /** Returns the thresholds for a gallery of this size. */
  readonly levelsOf?: (gallerySize: number) => readonly DecisionLevel[]
  readonly comparisonsMax?: number
}

const fpirs = [0.1, 0.01]
/** Gallery sizes. Only those up to half of the people are used. */
const openSetSizes = [50, 100, 200, 500, 1000, 2000, 5000]

/**
 * The most comparisons of the mated, and of the non-mated, searches of one gallery. Beyond that, an
 * evenly spaced part of the images is searched for.
 */
const searchComparisonsMax = 100_000_000

/**
 * Searches for each image in galleries of increasing size: every decade, and all people. The choice
 * of people is always the same.
 */
export function measureSearch(
  faces: readonly PersonTemplate[],
  score: Scorer,
  options: MeasureSearchOptions = {},
): SearchMetrics[] {
  const people = [...Map.groupBy(faces, ({ person }) => person).values()]
  const random = seededRandom(1)
  // People with more than one image come first: only they can be searched for.
  const ordered = shuffled(random, people).toSorted(
    (a, b) => Number(b.length > 1) - Number(a.length > 1),
  )
  return gallerySizesOf(people.length).map((size) =>
    metricsOf({ enrolled: ordered.slice(0, size), others: ordered.slice(size) }, score, options),
  )
}

/** Returns the sizes of the galleries for a set of this many people, in ascending order. */
export function gallerySizesOf(peopleCount: number): number[] {
  const decades = Array.from({ length: 9 }, (_, index) => 10 ** (index + 1))
  return [
    ...new Set([
      ...openSetSizes.filter((size) => size <= peopleCount / 2),
      ...decades.filter((size) => size <= peopleCount),
      peopleCount,
    ]),
  ].toSorted((a, b) => a - b)
}

/** Images by person. */
type SplitSet = {
  readonly enrolled: readonly (readonly PersonTemplate[])[]
  readonly others: readonly (readonly PersonTemplate[])[]
}

function metricsOf(
  { enrolled, others }: SplitSet,
  score: Scorer,
  { levelsOf = () => [], comparisonsMax = searchComparisonsMax }: MeasureSearchOptions,
) {
  const gallery = enrolled.flatMap(([first]) => first ?? [])
  const searchesMax = Math.max(1, Math.floor(comparisonsMax / gallery.length))
  const search = (probes: readonly PersonTemplate[]) =>
    evenlySpaced(probes, searchesMax).map((probe) => findBest(probe, gallery, score))
  const mated = search(enrolled.flatMap(([, ...probes]) => probes))
  const nonMated = search(others.flat())
  const correct = mated.filter(({ isCorrect }) => isCorrect).map(({ score: best }) => best)
  const correctScores = Float32Array.from(correct).sort()
  const nonMatedScores = Float32Array.from(nonMated, ({ score: best }) => best).sort()
  const fnirAt = (limit: number): number =>
    correct.length === 0
      ? 1
      : 1 - (shareAbove(correctScores, limit) * correct.length) / mated.length
  return {
    /** People in the gallery. */
    gallerySize: gallery.length,
    /** Searches for people in the gallery, each with another image of the person. */
    mated: mated.length,
    /** Searches for people outside the gallery. */
    nonMated: nonMated.length,
    /** Share of the mated searches whose best candidate is the correct person. */
    rankOne: correct.length / mated.length,
    /**
     * Miss rates at each false-identification rate that the number of searches can resolve. `fpir`: the
     * share of the non-mated searches that return a match. `fnir`: the share of the mated searches that
     * do not return the correct person.
     */
    points: fpirs
      .filter((fpir) => fpir * nonMated.length >= 1)
      .map((fpir) => ({ fpir, fnir: fnirAt(scoreAtFar(nonMatedScores, fpir)) })),
    /** Rates at the thresholds of the service; empty without a calibration table. */
    thresholds: levelsOf(gallery.length).map(({ threshold, similarity, score: limit }) => ({
      threshold,
      similarity,
      /** Null if there are no non-mated searches. */
      fpir: nonMated.length > 0 ? shareAbove(nonMatedScores, limit) : null,
      fnir: fnirAt(limit),
    })),
  }
}

/** Returns at most `count` of `items`, evenly spaced. */
function evenlySpaced<T>(items: readonly T[], count: number): readonly T[] {
  if (items.length <= count) return items
  const step = items.length / count
  const isChosen = (index: number) => Math.floor(index / step) !== Math.floor((index - 1) / step)
  return items.filter((_, index) => isChosen(index)).slice(0, count)
}

function findBest(probe: PersonTemplate, gallery: readonly PersonTemplate[], score: Scorer) {
  let best = { score: -Infinity, isCorrect: false }
  for (const { template, person } of gallery) {
    const value = score(probe.template, template)
    if (value > best.score) best = { score: value, isCorrect: person === probe.person }
  }
  return best
}
