import type { PersonTemplate, Scorer, PairScores } from '../verification/pair-scores.ts'
import type { TemplateLearner } from './learn-density.ts'
import { seededRandom, shuffled } from '../seeded-random.ts'

type HasPerson = { readonly person: string }

/** Deals `samples` to `count` folds by person: nobody is in two. */
export function foldsByPerson<S extends HasPerson>(
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

export type HeldOutScores = PairScores & {
  /** What the templates scored against themselves. */
  readonly identical: readonly number[]
}

/**
 * Scores every pair of samples by a model that has learnt from neither person: for every two folds
 * it learns from the others, and so from nearly all people.
 */
export function scoreHeldOut<S extends HasPerson>(
  folds: readonly (readonly S[])[],
  learn: TemplateLearner<S>,
  score: Scorer,
  onProgress: (done: number, total: number) => void,
): HeldOutScores {
  const genuine: number[] = []
  const impostor: number[] = []
  const identical: number[] = []
  const compare = (a: PersonTemplate, b: PersonTemplate): void => {
    const scores = a.person === b.person ? genuine : impostor
    scores.push(score(a.template, b.template))
  }
  const pairs = folds.flatMap((b, index) => folds.slice(0, index).map((a) => [a, b] as const))
  for (const [index, [a, b]] of pairs.entries()) {
    const templateOf = learn(folds.filter((fold) => fold !== a && fold !== b).flat())
    const face = (sample: S): PersonTemplate => ({
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

function compareWithin(
  faces: readonly PersonTemplate[],
  compare: (a: PersonTemplate, b: PersonTemplate) => void,
): void {
  for (const [index, one] of faces.entries())
    for (const other of faces.slice(0, index)) compare(one, other)
}
