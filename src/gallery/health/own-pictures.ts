import { spreadShares } from '../../lib/density/merge-templates.ts'
import type { TemplateScorer } from '../calibration/measure/template-scorer.ts'
import type { GalleryTemplates } from '../calibration/read-templates.ts'

/** The pictures of one subject. Numbers of pictures are positions in `indexes`. */
export type OwnPictures = ReturnType<typeof openOwnPictures>

/** Scores the pictures of a subject with each other. */
export function openOwnPictures(
  { densities }: Pick<GalleryTemplates, 'densities'>,
  { score }: TemplateScorer,
  indexes: readonly number[],
) {
  const count = indexes.length
  const scores = new Float64Array(count * count)
  const densityOf = (picture: number): number => densities[indexes[picture] ?? 0] ?? 0
  for (let picture = 1; picture < count; picture++)
    for (let other = 0; other < picture; other++) {
      const pair = score(indexes[picture] ?? 0, indexes[other] ?? 0)
      scores[picture * count + other] = pair
      scores[other * count + picture] = pair
    }
  const pairScore = (picture: number, other: number): number => scores[picture * count + other] ?? 0
  const distance = (picture: number, other: number): number =>
    -pairScore(picture, other) - (densityOf(picture) + densityOf(other)) / 2
  return {
    /** The indexes of their templates. */
    indexes,
    /** The score of two pictures. */
    pairScore,
    // The squared distance to a mean is the mean of the squared distances minus the spread, and the
    // spread is the mean of all squared distances between the members, halved (see `mergeTemplates`).
    /** The score of a picture against other pictures, merged as the search merges a subject. */
    scoreAgainst: (picture: number, members: readonly number[]): number => {
      let [sum, density, spread] = [0, 0, 0]
      for (const [place, member] of members.entries()) {
        sum += distance(picture, member)
        density += densityOf(member)
        for (let before = 0; before < place; before++)
          spread += distance(member, members[before] ?? 0)
      }
      const size = members.length
      spread /= size ** 2
      const merged = density / size + spreadShares.subject * spread
      return -(sum / size - spread) - (densityOf(picture) + merged) / 2
    },
  }
}

/** Returns the numbers of the pictures, without the excluded ones. */
export function otherPictures({ indexes }: OwnPictures, ...excluded: readonly number[]): number[] {
  return indexes.flatMap((_, picture) => (excluded.includes(picture) ? [] : [picture]))
}

/**
 * Returns the groups of pictures that are connected by scores of at least `linkScore`, the largest
 * first. Pictures of one person form one group.
 */
export function connectedPictures({ indexes, pairScore }: OwnPictures, linkScore: number) {
  const groups: number[][] = []
  for (const picture of indexes.keys()) {
    const isLinked = (group: readonly number[]): boolean =>
      group.some((other) => pairScore(picture, other) >= linkScore)
    const linked = groups.filter(isLinked)
    for (const group of linked) groups.splice(groups.indexOf(group), 1)
    groups.push([...linked.flat(), picture])
  }
  return groups.toSorted((a, b) => b.length - a.length)
}
