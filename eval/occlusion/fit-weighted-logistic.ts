/** One case: what was measured, what it is (1 or 0), how much it counts. */
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
 * Logistic regression by Newton's method, the standardised coefficients held down by a ridge so that
 * what is nearly the same evidence shares a weight.
 */
export function fitWeightedLogistic(cases: readonly WeightedCase[]): OcclusionLogistic {
  const size = cases[0]?.evidence.length ?? 0
  const scales = Array.from({ length: size }, (_, at) =>
    scaleOf(cases.map((one) => one.evidence[at] ?? 0)),
  )
  const rows = cases.map(({ evidence }) => [
    ...evidence.map(
      (value, at) => (value - (scales[at]?.mean ?? 0)) / (scales[at]?.deviation ?? 1),
    ),
    1,
  ])
  let beta = Array.from({ length: size + 1 }, () => 0)
  for (let round = 0; round < roundsMax; round++) {
    const step = solve(...newton(cases, rows, beta))
    beta = beta.map((value, at) => value + Math.max(-2, Math.min(2, step[at] ?? 0)))
  }
  const of = scales.map(({ deviation }, at) => (beta[at] ?? 0) / deviation)
  const shift = scales.reduce((sum, { mean }, at) => sum + mean * (of[at] ?? 0), 0)
  return { intercept: (beta[size] ?? 0) - shift, coefficients: of }
}

/** 0..1 */
export function probabilityOf(
  evidence: readonly number[],
  { intercept, coefficients: of }: OcclusionLogistic,
): number {
  const sum = evidence.reduce((total, value, at) => total + value * (of[at] ?? 0), intercept)
  return 1 / (1 + Math.exp(-sum))
}

const roundsMax = 25
/** Per case, on standardised coefficients. */
const ridge = 1e-3

function scaleOf(values: readonly number[]) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean, deviation: Math.sqrt(variance) || 1 }
}

/** Hessian and gradient of the penalised likelihood. */
function newton(
  cases: readonly WeightedCase[],
  rows: readonly (readonly number[])[],
  beta: readonly number[],
): [number[][], number[]] {
  const size = beta.length
  const penalty = ridge * cases.length
  const isIntercept = (at: number): boolean => at === size - 1
  const gradient = beta.map((value, at) => (isIntercept(at) ? 0 : -penalty * value))
  const hessian = beta.map((_, at) =>
    beta.map((_unused, other) => (at === other && !isIntercept(at) ? penalty : 1e-9)),
  )
  for (const [index, row] of rows.entries()) {
    const { label, weight } = cases[index] ?? { label: 0, weight: 0 }
    const share =
      1 / (1 + Math.exp(-row.reduce((sum, value, at) => sum + value * (beta[at] ?? 0), 0)))
    for (const [at, value] of row.entries()) {
      gradient[at] = (gradient[at] ?? 0) + weight * (label - share) * value
      const line = hessian[at] ?? []
      for (const [other, second] of row.entries())
        line[other] = (line[other] ?? 0) + weight * share * (1 - share) * value * second
    }
  }
  return [hessian, gradient]
}

/** Gauss and Jordan, with pivots. */
function solve(matrix: readonly (readonly number[])[], right: readonly number[]): number[] {
  const rows = matrix.map((row, at) => [...row, right[at] ?? 0])
  const size = rows.length
  for (let column = 0; column < size; column++) {
    const pivot = rows
      .slice(column)
      .reduce((best, row) =>
        Math.abs(row[column] ?? 0) > Math.abs(best[column] ?? 0) ? row : best,
      )
    const at = rows.indexOf(pivot)
    rows[at] = rows[column] ?? []
    rows[column] = pivot
    for (const row of rows) {
      if (row === pivot) continue
      const factor = (row[column] ?? 0) / (pivot[column] ?? 1)
      for (let k = column; k <= size; k++) row[k] = (row[k] ?? 0) - factor * (pivot[k] ?? 0)
    }
  }
  return rows.map((row, at) => (row[size] ?? 0) / (row[at] ?? 1))
}
