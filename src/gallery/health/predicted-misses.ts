import { otherPictures, type OwnPictures } from './own-pictures.ts'

export type SubjectPictures = {
  readonly own: OwnPictures
  /** Pictures of another person. They are enrolled, but no picture of the subject. */
  readonly foreign: ReadonlySet<number>
}

/** A rate of fewer pictures is not reported. */
const probesMin = 10
/** A rate for a number of pictures is counted if at least this many are searched, else it is half of the former. */
const countedProbesMin = 30
/** More pictures change little, and few subjects have them. */
const picturesMax = 5

/**
 * Predicts the share of new pictures of the enrolled people that a gallery misses: each picture of a
 * subject is searched against one, two … other pictures of the subject. The rates are weighted by the
 * numbers of pictures that subjects have.
 *
 * @returns null if fewer than ten pictures have another picture of their subject.
 */
export function predictMisses(subjects: readonly SubjectPictures[], thresholdScore: number) {
  const rates: number[] = []
  let probes = 0
  for (let pictures = 1; pictures <= picturesMax; pictures++) {
    const { misses, total } = countMisses(subjects, pictures, thresholdScore)
    if (pictures === 1) probes = total
    const before = rates.at(-1)
    if (before === undefined || total >= countedProbesMin)
      rates.push(total > 0 ? misses / total : 0)
    else rates.push(before / 2)
  }
  if (probes < probesMin) return null
  const sum = subjects.reduce((total, { own }) => {
    const pictures = Math.min(own.indexes.length, picturesMax)
    return total + (rates[pictures - 1] ?? 0)
  }, 0)
  return {
    rate: sum / subjects.length,
    /** The pictures by which it was measured. */
    probes,
  }
}

/** Searches each picture against the next ones of its subject. */
function countMisses(
  subjects: readonly SubjectPictures[],
  pictures: number,
  thresholdScore: number,
): { readonly misses: number; readonly total: number } {
  let [misses, total] = [0, 0]
  for (const { own, foreign } of subjects) {
    if (own.indexes.length <= pictures) continue
    for (const picture of otherPictures(own, ...foreign)) {
      const members = Array.from(
        { length: pictures },
        (_, step) => (picture + 1 + step) % own.indexes.length,
      )
      total += 1
      if (own.scoreAgainst(picture, members) < thresholdScore) misses += 1
    }
  }
  return { misses, total }
}
