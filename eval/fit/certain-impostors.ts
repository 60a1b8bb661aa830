import { meanOf, squaredDistance } from '../../src/evaluation/calibration/vector-math.ts'
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
}

export type PairCount = { readonly pairs: number; readonly matches: number }

/**
 * Counts the pairs of certain impostors whose score reaches `score`. Each pair is scored with densities
 * of a cohort without the rows of both cells: neither the rows themselves nor rows of the same group,
 * gender and age lower its score.
 *
 * @param rows rows of the cohort, or of the same cells; row i belongs to `added[i]`.
 * @param fitted the rows of the cohort that belong to no cell, and the number of neighbours.
 * @param added the rows of the cohort that belong to the cells; empty to measure without them.
 */
export function countCertainImpostors(
  rows: readonly CellRow[],
  { fitted, added, score }: { fitted: DensityCohort; added: readonly CellRow[]; score: number },
): ImpostorCounts {
  const densityOf = createDensities(rows, fitted, added)
  const certain = { pairs: 0, matches: 0 }
  const girlAndBoy = { pairs: 0, matches: 0 }
  for (const [a, first] of rows.entries())
    for (const [b, second] of rows.slice(0, a).entries()) {
      if (!areImpostors(first.cell, second.cell)) continue
      const densities = densityOf(a, second.cell) + densityOf(b, first.cell)
      const isMatch = -squaredDistance(first.vector, second.vector) - densities / 2 >= score
      const counts = [certain, ...(areChildren(first.cell, second.cell) ? [girlAndBoy] : [])]
      for (const count of counts) {
        count.pairs += 1
        count.matches += Number(isMatch)
      }
    }
  return { certain, girlAndBoy }
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

/** Returns the density of a row, in a cohort without its own cell and without another one. */
function createDensities(
  rows: readonly CellRow[],
  { cohort, neighbours }: DensityCohort,
  added: readonly CellRow[],
): (row: number, otherCell: MixtureCell) => number {
  const known = new Map<string, number>()
  const nearest = rows.map(({ cell, vector }) => {
    const fitted = Array.from({ length: cohort.length / vector.length }, (_, row) => ({
      distance: squaredDistance(
        vector,
        cohort.subarray(row * vector.length, (row + 1) * vector.length),
      ),
      name: '',
    }))
    const others = added
      .filter((other) => nameOf(other.cell) !== nameOf(cell))
      .map((other) => ({
        distance: squaredDistance(vector, other.vector),
        name: nameOf(other.cell),
      }))
    return [...fitted, ...others].toSorted((a, b) => a.distance - b.distance)
  })
  return (row, otherCell) => {
    const key = `${row} ${nameOf(otherCell)}`
    const density = known.get(key)
    if (density !== undefined) return density
    const used: number[] = []
    for (const { distance, name } of nearest[row] ?? []) {
      if (name === nameOf(otherCell)) continue
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
