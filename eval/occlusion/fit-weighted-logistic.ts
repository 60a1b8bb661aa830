/** One training case: measured values, label (1 or 0) and weight. */
export type WeightedCase = {
  readonly evidence: readonly number[]
  readonly label: 0 | 1
  readonly weight: number
}

export type OcclusionLogistic = {
  readonly intercept: number
  readonly coefficients: readonly number[]
}

/**
 * Fits a logistic regression by Newton's method. A ridge keeps the standardised coefficients small, so
 * that strongly correlated evidence shares the weight.
 */
export function fitWeightedLogistic(cases: readonly WeightedCase[]): OcclusionLogistic {
  const size = cases[0]?.evidence.length ?? 0
  const scales = Array.from({ length: size }, (_, index) =>
    scaleOf(cases.map(({ evidence }) => evidence[index] ?? 0)),
  )
  const rows = cases.map(({ evidence }) => [
    ...evidence.map(
      (value, index) => (value - (scales[index]?.mean ?? 0)) / (scales[index]?.deviation ?? 1),
    ),
    1,
  ])
  let beta = Array.from({ length: size + 1 }, () => 0)
  for (let round = 0; round < roundsMax; round++) {
    const step = solve(...newton(cases, rows, beta))
    beta = beta.map((value, index) => value + Math.max(-2, Math.min(2, step[index] ?? 0)))
  }
  const coefficients = scales.map(({ deviation }, index) => (beta[index] ?? 0) / deviation)
  const shift = scales.reduce((sum, { mean }, index) => sum + mean * (coefficients[index] ?? 0), 0)
  return { intercept: (beta[size] ?? 0) - shift, coefficients }
}

/** Returns the probability of label 1, 0..1. */
export function probabilityOf(
  evidence: readonly number[],
  { intercept, coefficients }: OcclusionLogistic,
): number {
  const sum = evidence.reduce(
    (total, value, index) => total + value * (coefficients[index] ?? 0),
    intercept,
  )
  return 1 / (1 + Math.exp(-sum))
}

const roundsMax = 25
/** Penalty per case, on standardised coefficients. */
const ridge = 1e-3

function scaleOf(values: readonly number[]) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean, deviation: Math.sqrt(variance) || 1 }
}

/** Returns the Hessian and the gradient of the penalised likelihood. */
function newton(
  cases: readonly WeightedCase[],
  rows: readonly (readonly number[])[],
  beta: readonly number[],
): [number[][], number[]] {
  const size = beta.length
  const penalty = ridge * cases.length
  const isIntercept = (index: number): boolean => index === size - 1
  const gradient = beta.map((value, index) => (isIntercept(index) ? 0 : -penalty * value))
  const hessian = beta.map((_, index) =>
    beta.map((_unused, other) => (index === other && !isIntercept(index) ? penalty : 1e-9)),
  )
  for (const [caseIndex, row] of rows.entries()) {
    const { label, weight } = cases[caseIndex] ?? { label: 0, weight: 0 }
    const probability =
      1 / (1 + Math.exp(-row.reduce((sum, value, index) => sum + value * (beta[index] ?? 0), 0)))
    for (const [index, value] of row.entries()) {
      gradient[index] = (gradient[index] ?? 0) + weight * (label - probability) * value
      const hessianRow = hessian[index] ?? []
      for (const [other, second] of row.entries())
        hessianRow[other] =
          (hessianRow[other] ?? 0) + weight * probability * (1 - probability) * value * second
    }
  }
  return [hessian, gradient]
}

/** Solves the equations by Gauss–Jordan elimination with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, right[index] ?? 0])
  const size = rows.length
  for (let column = 0; column < size; column++) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) =>
        Math.abs(row[column] ?? 0) > Math.abs(best[column] ?? 0) ? row : best,
      )
    const pivotIndex = rows.indexOf(pivot)
    rows[pivotIndex] = rows[column] ?? []
    rows[column] = pivot
    for (const row of rows) {
      if (row === pivot) continue
      const factor = (row[column] ?? 0) / (pivot[column] ?? 1)
      for (let k = column; k <= size; k++) row[k] = (row[k] ?? 0) - factor * (pivot[k] ?? 0)
    }
  }
  return rows.map((row, index) => (row[size] ?? 0) / (row[index] ?? 1))
}
