/** One row: numbers, which side they are on, and how much the row counts. */
export type LivenessSample = { readonly values: readonly number[]; readonly isLive: boolean }

/** The log-odds of "live" are `bias` plus the sum of weights times values. */
export type LivenessLogistic = { readonly weights: readonly number[]; readonly bias: number }

/**
 * Logistic regression by Newton's method; both sides count the same, however many rows they have.
 *
 * @param ridge keeps the weights (not the bias) small: half of it times their squares is the price.
 */
export function fitLogistic(rows: readonly LivenessSample[], ridge = 1): LivenessLogistic {
  const liveCount = rows.filter(({ isLive }) => isLive).length
  const share = {
    live: rows.length / (2 * liveCount),
    attack: rows.length / (2 * (rows.length - liveCount)),
  }
  const size = rows[0]?.values.length ?? 0
  let found = Array.from({ length: size + 1 }, () => 0)
  for (let step = 0; step < stepsMax; step++) {
    const slope = found.map((value, index) => (index < size ? -ridge * value : 0))
    const curve = found.map((_, i) => found.map((__, j) => (i === j && i < size ? ridge : 0)))
    for (const { values, isLive } of rows) {
      const inputs = [...values, 1]
      const chance = sigmoid(dot(inputs, found))
      const weight = isLive ? share.live : share.attack
      const error = weight * (Number(isLive) - chance)
      const bend = weight * chance * (1 - chance)
      inputs.forEach((a, i) => {
        slope[i] = (slope[i] ?? 0) + error * a
        const row = curve[i] ?? []
        inputs.forEach((b, j) => (row[j] = (row[j] ?? 0) + bend * a * b))
      })
    }
    const change = solve(curve, slope)
    found = found.map((value, index) => value + (change[index] ?? 0))
  }
  return { weights: found.slice(0, size), bias: found[size] ?? 0 }
}

/** 0..1. */
export function probabilityOf(
  { weights, bias }: LivenessLogistic,
  values: readonly number[],
): number {
  return sigmoid(bias + dot(values, weights))
}

/** Newton's method doubles its digits at every step. */
const stepsMax = 12

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value))
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}

/** Gauss–Jordan with pivots; the matrix is small and positive definite. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0])
  for (let column = 0; column < rows.length; column++) {
    const rest = rows.slice(column).map((row) => Math.abs(row[column] ?? 0))
    const pivotAt = column + rest.indexOf(Math.max(...rest))
    const pivot = rows[pivotAt] ?? []
    rows[pivotAt] = rows[column] ?? []
    rows[column] = pivot
    const head = pivot[column] ?? 1
    for (const row of rows) {
      if (row === pivot) continue
      const factor = (row[column] ?? 0) / head
      row.forEach((value, index) => (row[index] = value - factor * (pivot[index] ?? 0)))
    }
  }
  return rows.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1))
}
