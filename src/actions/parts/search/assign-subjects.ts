import type { MatchCandidate } from './candidates.ts'

/** Fewer than any difference of similarities: a similarity equal to the threshold is still a match. */
const matchGain = 1e-6

/**
 * Matches each subject with at most one face, so that the total of the similarities above the threshold
 * is the highest possible, and removes it from the candidates of all other faces. Below the threshold,
 * subjects that are matched elsewhere are removed too.
 *
 * @param faces the candidates of each face, best first: at least as many as there are faces, so that
 *   no possible match is missing.
 */
export function assignSubjects<Candidate extends Pick<MatchCandidate, 'subjectId' | 'similarity'>>(
  threshold: number,
  faces: readonly (readonly Candidate[])[],
): Candidate[][] {
  const subjectIds = [...new Set(faces.flat().map(({ subjectId }) => subjectId))]
  const columns = new Map(subjectIds.map((subjectId, column) => [subjectId, column]))
  // One more column per face stands for no match.
  const width = subjectIds.length + faces.length
  const costs = faces.map((candidates) => {
    const row = new Float64Array(width)
    for (const { subjectId, similarity } of candidates)
      if (similarity >= threshold)
        row[columns.get(subjectId) ?? 0] = threshold - similarity - matchGain
    return row
  })
  const assigned = assignRows(costs, width).map((column, face) =>
    (costs[face]?.[column] ?? 0) < 0 ? subjectIds[column] : undefined,
  )
  return faces.map((candidates, face) =>
    candidates.filter(({ subjectId }) => {
      const owner = assigned.indexOf(subjectId)
      return owner === -1 || owner === face
    }),
  )
}

/**
 * Assigns each row to a separate column with the lowest total cost: the Hungarian algorithm with
 * potentials (Kuhn 1955, Munkres 1957), O(rows² × columns). At most 20 faces with 120 candidates each
 * are 20 × 2,420 costs.
 *
 * @param costs rows × columns, with at least as many columns as rows.
 * @returns the column of each row.
 */
export function assignRows(costs: readonly Float64Array[], columns: number): number[] {
  const rowPotentials = new Float64Array(costs.length)
  const columnPotentials = new Float64Array(columns)
  const rowOf = new Int32Array(columns).fill(-1)
  for (const start of costs.keys()) {
    const slack = new Float64Array(columns).fill(Number.POSITIVE_INFINITY)
    const previous = new Int32Array(columns).fill(-1)
    const isVisited = new Uint8Array(columns)
    let column = -1
    let row = start
    // Extends the alternating tree by the column with the least slack until one is free.
    do {
      const costsOfRow = costs[row] ?? new Float64Array()
      let nearest = -1
      for (let next = 0; next < columns; next++) {
        if (isVisited[next]) continue
        const reduced =
          (costsOfRow[next] ?? 0) - (rowPotentials[row] ?? 0) - (columnPotentials[next] ?? 0)
        if (reduced < (slack[next] ?? 0)) {
          slack[next] = reduced
          previous[next] = column
        }
        if (nearest === -1 || (slack[next] ?? 0) < (slack[nearest] ?? 0)) nearest = next
      }
      const step = slack[nearest] ?? 0
      rowPotentials[start] = (rowPotentials[start] ?? 0) + step
      for (let next = 0; next < columns; next++) {
        if (!isVisited[next]) slack[next] = (slack[next] ?? 0) - step
        else {
          const owner = rowOf[next] ?? 0
          rowPotentials[owner] = (rowPotentials[owner] ?? 0) + step
          columnPotentials[next] = (columnPotentials[next] ?? 0) - step
        }
      }
      isVisited[nearest] = 1
      column = nearest
      row = rowOf[column] ?? -1
    } while (row !== -1)
    // Moves each column of the path to the row before it.
    while (column !== -1) {
      const before = previous[column] ?? -1
      rowOf[column] = before === -1 ? start : (rowOf[before] ?? -1)
      column = before
    }
  }
  const assigned = costs.map(() => -1)
  for (const [column, row] of rowOf.entries()) if (row !== -1) assigned[row] = column
  return assigned
}
