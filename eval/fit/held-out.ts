import type { Face, Scorer, Scores } from '../compare/scores.ts'
import type { Learner } from './learners.ts'
import { seededRandom, shuffled } from './random.ts'

type OfPerson = { readonly person: string }

/** Deals `samples` to `count` folds by person: nobody is in two. */
export function peopleFolds<S extends OfPerson>(
  samples: readonly S[],
  count: number,
  seed: number,
): S[][] {
  const people = shuffled(seededRandom(seed), [...new Set(samples.map(({ person }) => person))])
  const places = new Map(people.map((person, index) => [person, index % count]))
  return Array.from({ length: count }, (_, fold) =>
    samples.filter(({ person }) => places.get(person) === fold),
  )
}

export type HeldOut = Scores & {
  /** What the templates scored against themselves. */
  readonly identical: readonly number[]
}

/**
 * Scores every pair of samples by a model that has learnt from neither person: for every two folds
 * it learns from the others, and so from nearly all people.
 */
export function heldOutScores<S extends OfPerson>(
  folds: readonly (readonly S[])[],
  learn: Learner<S>,
  score: Scorer,
  onProgress: (done: number, total: number) => void,
): HeldOut {
  const genuine: number[] = []
  const impostor: number[] = []
  const identical: number[] = []
  const compare = (a: Face, b: Face): void => {
    const scores = a.person === b.person ? genuine : impostor
    scores.push(score(a.template, b.template))
  }
  const pairs = folds.flatMap((b, index) => folds.slice(0, index).map((a) => [a, b] as const))
  for (const [index, [a, b]] of pairs.entries()) {
    const templateOf = learn(folds.filter((fold) => fold !== a && fold !== b).flat())
    const face = (sample: S): Face => ({
      person: sample.person,
      template: templateOf(sample),
    })
    const [left, right] = [a.map(face), b.map(face)]
    for (const one of left) for (const other of right) compare(one, other)
    // Every fold is once the right one beside the first; the first itself beside the last.
    if (a === folds[0]) compareWithin(right, compare)
    if (a === folds[0] && b === folds.at(-1)) compareWithin(left, compare)
    identical.push(...left.map(({ template }) => score(template, template)))
    onProgress(index + 1, pairs.length)
  }
  return {
    genuine: Float32Array.from(genuine).sort(),
    impostor: Float32Array.from(impostor).sort(),
    identical,
  }
}

function compareWithin(faces: readonly Face[], compare: (a: Face, b: Face) => void): void {
  for (const [index, one] of faces.entries())
    for (const other of faces.slice(0, index)) compare(one, other)
}
