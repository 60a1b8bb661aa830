import { meanOf } from '../../src/evaluation/calibration/mix-cohort.ts'
import { squaredDistance } from '../../src/lib/density/vectors.ts'
import manifest from '../../src/models/template/manifest.json' with { type: 'json' }
import type { DensityCohort } from '../../src/lib/density/density-kernel.ts'
import type { MixtureCell } from './mixture-rows.ts'

/** A row of a cell, in the space of the templates. */
export type CellRow = { readonly cell: MixtureCell; readonly vector: Float32Array }

/** Pairs of rows that show different people for certain, and how many reach the score of a rate. */
export type ImpostorCounts = {
  /** Of another gender, or a child of 3 to 15 years and a person from 46 years on. */
  readonly certain: PairCount
  /** A girl and a boy of 3 to 15 years. */
  readonly girlAndBoy: PairCount
  /** Those of one group, by the group. */
  readonly girlAndBoyOfGroup: ReadonlyMap<string, PairCount>
}

export type PairCount = { readonly pairs: number; readonly matches: number }

/** Returns the score of two rows. */
export type ScoreRows = (a: number, b: number) => number

/** Counts the pairs of certain impostors whose score reaches `score`. */
export function countCertainImpostors(
  cells: readonly MixtureCell[],
  scoreRows: ScoreRows,
  score: number,
): ImpostorCounts {
  const certain = { pairs: 0, matches: 0 }
  const girlAndBoy = { pairs: 0, matches: 0 }
  const groups = [...new Set(cells.map(({ group }) => group))]
  const girlAndBoyOfGroup = new Map(groups.map((group) => [group, { pairs: 0, matches: 0 }]))
  for (const [a, first] of cells.entries())
    for (const [b, second] of cells.slice(0, a).entries()) {
      if (!areImpostors(first, second)) continue
      const isMatch = scoreRows(a, b) >= score
      const counts = [certain]
      if (areChildren(first, second)) {
        counts.push(girlAndBoy)
        const ofGroup = girlAndBoyOfGroup.get(first.group)
        if (ofGroup && first.group === second.group) counts.push(ofGroup)
      }
      for (const count of counts) {
        count.pairs += 1
        count.matches += Number(isMatch)
      }
    }
  return { certain, girlAndBoy, girlAndBoyOfGroup }
}

/**
 * Scores rows. The rows of each cell form two halves. Each pair is scored with densities of a cohort
 * without the halves of both rows: the rows themselves never lower its score, other rows of the same
 * group, gender and age do.
 *
 * @param rows rows of the cohort, or of the same cells; row i belongs to `added[i]`.
 * @param fitted the rows of the cohort that belong to no cell, and the number of neighbours.
 * @param added the first rows of the cells that are in the cohort; empty to measure without them.
 */
export function createRowScorer(
  rows: readonly CellRow[],
  { fitted, added }: { readonly fitted: DensityCohort; readonly added: readonly CellRow[] },
): ScoreRows {
  const densityOf = createDensities(rows, fitted, added)
  return (a, b) => {
    const [first, second] = [rows[a], rows[b]]
    if (!first || !second) throw new RangeError(`there is no pair ${a}, ${b}`)
    const densities = densityOf(a, b) + densityOf(b, a)
    return -squaredDistance(first.vector, second.vector) - densities / 2
  }
}

/** Returns the cohort without the rows that `eval/extend-cohort.ts` added. */
export function fittedCohort({ cohort, neighbours }: DensityCohort): DensityCohort {
  const { cohortRows, added } = manifest
  const fittedRows = cohortRows - added.rows
  return { cohort: cohort.subarray(0, (cohort.length / cohortRows) * fittedRows), neighbours }
}

function areImpostors(a: MixtureCell, b: MixtureCell): boolean {
  const ages = new Set([a.age, b.age])
  return a.gender !== b.gender || (ages.has(childAge) && ages.has(oldAge))
}

function areChildren(a: MixtureCell, b: MixtureCell): boolean {
  return a.gender !== b.gender && a.age === childAge && b.age === childAge
}

const childAge = '3-15'
const oldAge = '46+'

const nameOf = ({ group, gender, age }: MixtureCell): string => `${group} ${gender} ${age}`

/** Returns the density of a row, in a cohort without the halves of this row and of another. */
function createDensities(
  rows: readonly CellRow[],
  { cohort, neighbours }: DensityCohort,
  added: readonly CellRow[],
): (row: number, other: number) => number {
  const halves = rows.map(({ cell }, row) => `${nameOf(cell)} ${row % 2}`)
  const known = new Map<string, number>()
  const nearest = rows.map(({ vector }, row) => {
    const fitted = Array.from({ length: cohort.length / vector.length }, (_, index) => ({
      distance: squaredDistance(
        vector,
        cohort.subarray(index * vector.length, (index + 1) * vector.length),
      ),
      half: '',
    }))
    const others = added
      .map((other, index) => ({
        distance: squaredDistance(vector, other.vector),
        half: halves[index] ?? '',
      }))
      .filter(({ half }) => half !== halves[row])
    return [...fitted, ...others].toSorted((a, b) => a.distance - b.distance)
  })
  return (row, other) => {
    const otherHalf = halves[other] ?? ''
    const key = `${row} ${otherHalf}`
    const density = known.get(key)
    if (density !== undefined) return density
    const used: number[] = []
    for (const { distance, half } of nearest[row] ?? []) {
      if (half === otherHalf) continue
      if (used.push(distance) === neighbours) break
    }
    const value = -used.reduce((sum, distance) => sum + distance, 0) / neighbours
    known.set(key, value)
    return value
  }
}

/**
 * Spreads the rows of each cell about the mean of the cell like single faces. The mean of three faces
 * deviates from the mean of its cell by a third of the variance of single faces.
 */
export function spreadLikeFaces(rows: readonly CellRow[]): CellRow[] {
  const cells = Map.groupBy(rows, ({ cell }) => nameOf(cell))
  const means = new Map(
    [...cells].map(([name, members]) => [name, meanOf(members.map(({ vector }) => vector))]),
  )
  return rows.map(({ cell, vector }) => {
    const mean = means.get(nameOf(cell))
    const spread = vector.map((value, i) => {
      const centre = mean?.[i] ?? 0
      return centre + Math.sqrt(facesPerRow) * (value - centre)
    })
    return { cell, vector: spread }
  })
}

const facesPerRow = 3
