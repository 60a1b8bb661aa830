import type { Matching } from '../../../gallery/matching.ts'
import type { Template } from '../../../vision/embed/template.ts'

/**
 * The lowest similarity of two faces that are stored or accepted as one person without a threshold of
 * the caller: with `allImages`, and for a liveness token. One false match in 10,000 comparisons. At
 * lower similarities the networks separate some groups of people poorly, and with many pictures another person has many chances.
 */
export const samePersonSimilarityMin = 0.8

/** Returns the similarity of two pictures, by their positions. */
export type PictureSimilarity = (a: number, b: number) => number

/** Returns the similarity of pictures by their templates, in the order of the positions. */
export function similarityByPosition(
  { compare }: Pick<Matching, 'compare'>,
  templates: readonly Template[],
): PictureSimilarity {
  return (a, b) => {
    const [first, second] = [templates[a], templates[b]]
    return first && second ? compare(first, second).similarity : 0
  }
}

/**
 * Returns the positions of the pictures that show one person, ascending. A picture belongs to the
 * group if it is similar to any picture of the group.
 *
 * @param seeds positions of pictures that certainly show the person.
 */
export function growGroup(
  count: number,
  seeds: readonly number[],
  similarityOf: PictureSimilarity,
  similarityMin = samePersonSimilarityMin,
): number[] {
  const group = new Set(seeds)
  // The iteration also visits the positions that are added during it.
  for (const member of group)
    for (let other = 0; other < count; other++)
      if (!group.has(other) && similarityOf(member, other) >= similarityMin) group.add(other)
  return [...group].toSorted((a, b) => a - b)
}

/**
 * Returns the positions of the largest group of pictures that show one person; of groups of the same
 * size, the one with the first picture.
 */
export function largestGroup(
  count: number,
  similarityOf: PictureSimilarity,
  similarityMin = samePersonSimilarityMin,
): number[] {
  let largest: number[] = []
  const grouped = new Set<number>()
  for (let first = 0; first < count; first++) {
    if (grouped.has(first)) continue
    const group = growGroup(count, [first], similarityOf, similarityMin)
    for (const member of group) grouped.add(member)
    if (group.length > largest.length) largest = group
  }
  return largest
}
