import { scoreAt, similarityAtFmr, type Calibration } from '../calibration/similarity.ts'
import type { NearestOthers } from './nearest-others.ts'
import { connectedPictures, otherPictures, type OwnPictures } from './own-pictures.ts'

/**
 * `otherPerson`: it shows another person than the other pictures. `differentPeople`: the pictures show
 * different people, and no picture indicates which of them is the subject. `harmful`: without it, more
 * of the other pictures would be found.
 */
export type PictureIssue = 'otherPerson' | 'differentPeople' | 'harmful'

export type PictureJudgement = {
  /** The pictures of another person, each with the subject that it matches, or null. */
  readonly foreign: ReadonlyMap<number, number | null>
  readonly issues: ReadonlyMap<number, PictureIssue>
}

export type MatchLimits = { readonly calibration: Calibration; readonly thresholdScore: number }

/**
 * Two pictures of a subject are taken as one person if so few of its comparisons with pictures of other
 * people reach their score.
 */
const linkFmr = 1e-2

/** Finds the pictures of a subject that show another person or do more harm than good. */
export function judgePictures(
  own: OwnPictures,
  others: Pick<NearestOthers, 'nearest' | 'scores'>,
  { calibration, thresholdScore }: MatchLimits,
): PictureJudgement {
  const count = own.indexes.length
  if (count === 1) return { foreign: new Map(), issues: new Map() }
  const otherScore = (picture: number): number => others.scores[own.indexes[picture] ?? 0] ?? 0
  const matchesOther = (picture: number): boolean => otherScore(picture) >= thresholdScore
  const linkScore = scoreAt(similarityAtFmr(linkFmr / (count - 1)), calibration)
  const groups = connectedPictures(own, linkScore)
  const wrong = wrongGroups(groups, matchesOther)
  const isMissed = (picture: number): boolean =>
    own.scoreAgainst(picture, otherPictures(own, picture)) < thresholdScore
  // A picture that its subject does not match, but another one does.
  const lost = (groups.length === 1 ? [...own.indexes.keys()] : []).filter(
    (picture) => count > 2 && isMissed(picture) && matchesOther(picture),
  )
  const pictures = [...(wrong?.flat() ?? []), ...lost]
  const issues = new Map<number, PictureIssue>(
    wrong
      ? [...pictures, ...harmfulPictures(own, new Set(pictures), thresholdScore)].map((picture) => [
          picture,
          pictures.includes(picture) ? 'otherPerson' : 'harmful',
        ])
      : groups.flat().map((picture) => [picture, 'differentPeople']),
  )
  const ownerOf = (picture: number): number | null =>
    matchesOther(picture) ? (others.nearest[own.indexes[picture] ?? 0] ?? null) : null
  return { foreign: new Map(pictures.map((picture) => [picture, ownerOf(picture)])), issues }
}

/**
 * Returns the groups that show another person: all except the largest. If several are the largest,
 * those that match another subject; undefined if that leaves none or more than one.
 */
function wrongGroups(
  groups: readonly (readonly number[])[],
  matchesOther: (picture: number) => boolean,
): readonly (readonly number[])[] | undefined {
  const size = groups[0]?.length ?? 0
  const largest = groups.filter((group) => group.length === size)
  const left = largest.length === 1 ? largest : largest.filter((group) => !group.some(matchesOther))
  return left.length === 1 ? groups.filter((group) => group !== left[0]) : undefined
}

/** Returns the pictures without which fewer of the other pictures of the subject are missed. */
function harmfulPictures(own: OwnPictures, foreign: ReadonlySet<number>, thresholdScore: number) {
  const rest = otherPictures(own, ...foreign)
  if (rest.length < 3) return []
  const missedWithout = (...left: readonly number[]) => {
    const members = rest.filter((picture) => !left.includes(picture))
    return (picture: number): boolean =>
      own.scoreAgainst(
        picture,
        members.filter((member) => member !== picture),
      ) < thresholdScore
  }
  const missed = rest.filter(missedWithout())
  if (missed.length === 0) return []
  return rest.filter((harmful) => {
    const remaining = rest.filter((picture) => picture !== harmful)
    const before = missed.filter((picture) => picture !== harmful).length
    return remaining.filter(missedWithout(harmful)).length < before
  })
}
