import { seededRandom, shuffled } from '../seeded-random.ts'
import { scoreAtFar, shareAbove } from './operating-points.ts'
import type { PersonTemplate, Scorer } from './pair-scores.ts'

/** Search results in a gallery that does not contain most of the people searched for. */
export type SearchMetrics = {
  /** People in the gallery, one image each. */
  readonly gallerySize: number
  /** Searches for people in the gallery. */
  readonly mated: number
  /** Searches for people outside the gallery. */
  readonly nonMated: number
  /** Share of the mated searches whose best candidate is the correct person. */
  readonly rankOne: number
  /** Miss rates at each false-identification rate that the number of searches can resolve. */
  readonly points: readonly {
    /** Share of the non-mated searches that return a match, 0..1. */
    readonly fpir: number
    /** Share of the mated searches that do not return the correct person. */
    readonly fnir: number
  }[]
}

const fpirs = [0.1, 0.01]
/** Gallery sizes. Only those up to half of the people are used. */
const gallerySizes = [50, 100, 200, 500, 1000, 2000, 5000]

/** Searches for each image in galleries of increasing size. The choice of people is always the same. */
export function measureSearch(faces: readonly PersonTemplate[], score: Scorer): SearchMetrics[] {
  const people = [...Map.groupBy(faces, ({ person }) => person).values()]
  const random = seededRandom(1)
  // People with more than one image come first: only they can be searched for.
  const ordered = shuffled(random, people).toSorted(
    (a, b) => Number(b.length > 1) - Number(a.length > 1),
  )
  return gallerySizes
    .filter((size) => size <= people.length / 2)
    .map((size) => metricsOf(ordered.slice(0, size), ordered.slice(size).flat(), score))
}

/** Returns the rank-one share in a gallery of all people, each enrolled with one image. */
export function measureRankOne(faces: readonly PersonTemplate[], score: Scorer): number {
  const people = [...Map.groupBy(faces, ({ person }) => person).values()]
  return metricsOf(people, [], score).rankOne
}

function metricsOf(
  enrolled: readonly (readonly PersonTemplate[])[],
  others: readonly PersonTemplate[],
  score: Scorer,
): SearchMetrics {
  const gallery = enrolled.flatMap(([first]) => first ?? [])
  const mated = enrolled
    .flatMap(([, ...probes]) => probes)
    .map((probe) => findBest(probe, gallery, score))
  const correct = mated.filter(({ isCorrect }) => isCorrect).map(({ score: best }) => best)
  const nonMated = others.map((probe) => findBest(probe, gallery, score).score)
  const correctScores = Float32Array.from(correct).sort()
  const nonMatedScores = Float32Array.from(nonMated).sort()
  return {
    gallerySize: gallery.length,
    mated: mated.length,
    nonMated: others.length,
    rankOne: correct.length / mated.length,
    points: fpirs
      .filter((fpir) => fpir * others.length >= 1)
      .map((fpir) => {
        const found = shareAbove(correctScores, scoreAtFar(nonMatedScores, fpir)) * correct.length
        return { fpir, fnir: 1 - found / mated.length }
      }),
  }
}

function findBest(probe: PersonTemplate, gallery: readonly PersonTemplate[], score: Scorer) {
  let best = { score: -Infinity, isCorrect: false }
  for (const { template, person } of gallery) {
    const value = score(probe.template, template)
    if (value > best.score) best = { score: value, isCorrect: person === probe.person }
  }
  return best
}
