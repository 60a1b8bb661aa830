import type { PersonTemplate, Scorer } from '../verification/pair-scores.ts'
import type { TemplateLearner } from './learn-density.ts'
import { seededRandom, shuffled } from '../../lib/random/seeded-random.ts'

type HasPerson = { readonly person: string }

/** Distributes `samples` to `count` folds by person. Each person is in one fold only. */
export function foldsByPerson<S extends HasPerson>(
  samples: readonly S[],
  count: number,
  seed: number,
): S[][] {
  const people = shuffled(seededRandom(seed), [...new Set(samples.map(({ person }) => person))])
  const foldOf = new Map(people.map((person, index) => [person, index % count]))
  return Array.from({ length: count }, (_, fold) =>
    samples.filter(({ person }) => foldOf.get(person) === fold),
  )
}

/**
 * Scores every pair of samples with a model that has not learnt from either person. For each pair of
 * folds, the model learns from all other folds, so from nearly all people.
 */
export function scoreHeldOut<S extends HasPerson>(
  folds: readonly (readonly S[])[],
  learn: TemplateLearner<S>,
  score: Scorer,
  onProgress: (done: number, total: number) => void,
) {
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
    const toFace = (sample: S): PersonTemplate => ({
      person: sample.person,
      template: templateOf(sample),
    })
    const [left, right] = [a.map(toFace), b.map(toFace)]
    for (const leftFace of left) for (const rightFace of right) compare(leftFace, rightFace)
    // Pairs within a fold are scored once: right folds with the first fold, the first with the last.
    if (a === folds[0]) compareWithin(right, compare)
    if (a === folds[0] && b === folds.at(-1)) compareWithin(left, compare)
    identical.push(...left.map(({ template }) => score(template, template)))
    onProgress(index + 1, pairs.length)
  }
  return {
    genuine: Float32Array.from(genuine).sort(),
    impostor: Float32Array.from(impostor).sort(),
    /** Scores of templates against themselves. */
    identical,
  }
}

function compareWithin(
  faces: readonly PersonTemplate[],
  compare: (a: PersonTemplate, b: PersonTemplate) => void,
): void {
  for (const [index, face] of faces.entries())
    for (const earlier of faces.slice(0, index)) compare(face, earlier)
}
