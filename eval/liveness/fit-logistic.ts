/** The crop scores of one image and its label. */
export type LivenessSample = { readonly values: readonly number[]; readonly isLive: boolean }

/** The log-odds of live are `bias` plus the sum of weights times values. */
export type LivenessLogistic = { readonly weights: readonly number[]; readonly bias: number }

/**
 * Fits a logistic regression by Newton's method. Live and attack samples have the same total weight,
 * independent of their numbers.
 *
 * @param ridge keeps the weights (not the bias) small: the penalty is half of `ridge` times the sum
 *   of their squares.
 */
export function fitLogistic(rows: readonly LivenessSample[], ridge = 1): LivenessLogistic {
  const liveCount = rows.filter(({ isLive }) => isLive).length
  const share = {
    live: rows.length / (2 * liveCount),
    attack: rows.length / (2 * (rows.length - liveCount)),
  }
  const size = rows[0]?.values.length ?? 0
  let coefficients = Array.from({ length: size + 1 }, () => 0)
  for (let step = 0; step < stepsMax; step++) {
    const gradient = coefficients.map((value, index) => (index < size ? -ridge * value : 0))
    const hessian = coefficients.map((_, i) =>
      coefficients.map((__, j) => (i === j && i < size ? ridge : 0)),
    )
    for (const { values, isLive } of rows) {
      const inputs = [...values, 1]
      const probability = sigmoid(dot(inputs, coefficients))
      const weight = isLive ? share.live : share.attack
      const error = weight * (Number(isLive) - probability)
      const curvature = weight * probability * (1 - probability)
      inputs.forEach((a, i) => {
        gradient[i] = (gradient[i] ?? 0) + error * a
        const row = hessian[i] ?? []
        inputs.forEach((b, j) => (row[j] = (row[j] ?? 0) + curvature * a * b))
      })
    }
    const change = solve(hessian, gradient)
    coefficients = coefficients.map((value, index) => value + (change[index] ?? 0))
  }
  return { weights: coefficients.slice(0, size), bias: coefficients[size] ?? 0 }
}

/** Returns the probability of live, 0..1. */
export function probabilityOf(
  { weights, bias }: LivenessLogistic,
  values: readonly number[],
): number {
  return sigmoid(bias + dot(values, weights))
}

/** Newton's method doubles the number of correct digits in each step, so 12 steps are enough. */
const stepsMax = 12

function sigmoid(value: number): number {
  return 1 / (1 + Math.exp(-value))
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)
}

/** Solves the equations by Gauss–Jordan elimination with pivots. The matrix is small and positive definite. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0])
  for (let column = 0; column < rows.length; column++) {
    const rest = rows.slice(column).map((row) => Math.abs(row[column] ?? 0))
    const pivotIndex = column + rest.indexOf(Math.max(...rest))
    const pivot = rows[pivotIndex] ?? []
    rows[pivotIndex] = rows[column] ?? []
    rows[column] = pivot
    const pivotValue = pivot[column] ?? 1
    for (const row of rows) {
      if (row === pivot) continue
      const factor = (row[column] ?? 0) / pivotValue
      row.forEach((value, index) => (row[index] = value - factor * (pivot[index] ?? 0)))
    }
  }
  return rows.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1))
}
