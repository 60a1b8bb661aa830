import { seededRandom } from '../../lib/random/seeded-random.ts'

export type PairCounts = { readonly genuine: number; readonly impostor: number }

type HasPersonName = { readonly person: string }
type PairVisitor = (indexA: number, indexB: number) => void

/** Returns the number of pairs of one person and of two people. */
export function countPairs(faces: readonly HasPersonName[]): PairCounts {
  const genuine = [...indexesByPerson(faces).values()].reduce(
    (sum, { length }) => sum + pairsAmong(length),
    0,
  )
  return { genuine, impostor: pairsAmong(faces.length) - genuine }
}

/** Visits every pair of `count` faces once. */
export function visitAllPairs(count: number, visit: PairVisitor): void {
  for (let indexA = 0; indexA < count; indexA++)
    for (let indexB = 0; indexB < indexA; indexB++) visit(indexA, indexB)
}

/**
 * Visits up to `limit` pairs of two people and up to `limit` pairs of one person. All pairs are
 * divided into `limit` strata of equal size, and one pair of each is drawn, so that no person and no
 * part of the set is preferred. The draw is always the same.
 */
export function visitSampledPairs(
  faces: readonly HasPersonName[],
  limit: number,
  visit: PairVisitor,
): void {
  visitGenuinePairs(faces, limit, visit)
  const random = seededRandom(1)
  const stratum = pairsAmong(faces.length) / limit
  let previous = -1
  for (let index = 0; index < limit; index++) {
    const pair = Math.min(Math.floor((index + random()) * stratum), pairsAmong(faces.length) - 1)
    if (pair === previous) continue
    previous = pair
    const [indexA, indexB] = pairAt(pair)
    if (faces[indexA]?.person !== faces[indexB]?.person) visit(indexA, indexB)
  }
}

function visitGenuinePairs(faces: readonly HasPersonName[], limit: number, visit: PairVisitor) {
  const stratum = Math.max(1, countPairs(faces).genuine / limit)
  let [seen, visited] = [0, 0]
  for (const indexes of indexesByPerson(faces).values())
    visitAllPairs(indexes.length, (a, b) => {
      if (seen++ < visited * stratum || visited >= limit) return
      visited++
      visit(indexes[a] ?? 0, indexes[b] ?? 0)
    })
}

/** Returns the pair with this number in the order of `visitAllPairs`. */
function pairAt(pair: number): readonly [number, number] {
  const estimate = Math.floor((1 + Math.sqrt(1 + 8 * pair)) / 2)
  // The square root of a large number can be off by one unit in the last place.
  const indexA = pairsAmong(estimate) > pair ? estimate - 1 : estimate
  return [indexA, pair - pairsAmong(indexA)]
}

function indexesByPerson(faces: readonly HasPersonName[]): Map<string, number[]> {
  return Map.groupBy(faces.keys(), (index) => faces[index]?.person ?? '')
}

function pairsAmong(count: number): number {
  return (count * (count - 1)) / 2
}
