import { seededRandom, shuffled } from '../seeded-random.ts'
import { scoreAtFar, shareAbove } from './operating-points.ts'
import type { PersonTemplate, Scorer } from './pair-scores.ts'

/** How well people are found in a gallery that most who look are not in. */
export type SearchMetrics = {
  /** People in the gallery, one picture each. */
  readonly gallerySize: number
  /** Searches for people who are in the gallery, and for people who are not. */
  readonly mated: number
  readonly nonMated: number
  /** Share of the mated searches whose best candidate is the right one. */
  readonly rankOne: number
  /** The misses at each rate of false identifications that the searches resolve. */
  readonly points: readonly {
    /** Share of the non-mated searches that name anyone, 0..1. */
    readonly fpir: number
    /** Share of the mated searches that do not name the right one. */
    readonly fnir: number
  }[]
}

const fpirs = [0.1, 0.01]
/** Steps of gallery sizes, as far as half of the people reach. */
const gallerySizes = [50, 100, 200, 500, 1000, 2000, 5000]

/** One search a picture, in galleries of rising size; the same choice of people every time. */
export function measureSearch(faces: readonly PersonTemplate[], score: Scorer): SearchMetrics[] {
  const people = [...Map.groupBy(faces, ({ person }) => person).values()]
  const random = seededRandom(1)
  // People with more than one picture come first: only they can be searched for.
  const ordered = shuffled(random, people).toSorted(
    (a, b) => Number(b.length > 1) - Number(a.length > 1),
  )
  return gallerySizes
    .filter((size) => size <= people.length / 2)
    .map((size) => metricsOf(ordered.slice(0, size), ordered.slice(size).flat(), score))
}

/** Share of the pictures whose person is found first among all, each enrolled with one picture. */
export function measureRankOne(faces: readonly PersonTemplate[], score: Scorer): number {
  const people = [...Map.groupBy(faces, ({ person }) => person).values()]
  return metricsOf(people, [], score).rankOne
}

function metricsOf(
  enrolled: readonly (readonly PersonTemplate[])[],
  strangers: readonly PersonTemplate[],
  score: Scorer,
): SearchMetrics {
  const gallery = enrolled.flatMap(([first]) => first ?? [])
  const mated = enrolled
    .flatMap(([, ...others]) => others)
    .map((probe) => findBest(probe, gallery, score))
  const right = mated.filter(({ isRight }) => isRight).map((found) => found.score)
  const top = strangers.map((probe) => findBest(probe, gallery, score).score)
  const rightScores = Float32Array.from(right).sort()
  const strangerScores = Float32Array.from(top).sort()
  return {
    gallerySize: gallery.length,
    mated: mated.length,
    nonMated: strangers.length,
    rankOne: right.length / mated.length,
    points: fpirs
      .filter((fpir) => fpir * strangers.length >= 1)
      .map((fpir) => {
        const found = shareAbove(rightScores, scoreAtFar(strangerScores, fpir)) * right.length
        return { fpir, fnir: 1 - found / mated.length }
      }),
  }
}

function findBest(probe: PersonTemplate, gallery: readonly PersonTemplate[], score: Scorer) {
  let top = { score: -Infinity, isRight: false }
  for (const { template, person } of gallery) {
    const value = score(probe.template, template)
    if (value > top.score) top = { score: value, isRight: person === probe.person }
  }
  return top
}
