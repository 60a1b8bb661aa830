import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isAmbiguous, rateSteps } from './ambiguity.ts'
import { assignRows, assignSubjects } from './assign-subjects.ts'
import type { MatchCandidate } from './candidates.ts'

/** Tries every assignment. @returns the lowest total. */
function lowestTotal(costs: readonly Float64Array[], columns: number): number {
  const [first, ...others] = costs
  if (!first) return 0
  const used = Array.from({ length: columns }, (_, column) => {
    const rest = others.map((row) => row.filter((_, index) => index !== column))
    return (first[column] ?? 0) + lowestTotal(rest, columns - 1)
  })
  return Math.min(...used)
}

test('Rows are assigned to columns with the lowest total of all assignments', () => {
  const matrix = fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 2 }))
    .chain(([rows, extra]) =>
      fc.array(
        fc.array(fc.integer({ min: -9, max: 0 }), {
          minLength: rows + extra,
          maxLength: rows + extra,
        }),
        { minLength: rows, maxLength: rows },
      ),
    )
  fc.assert(
    fc.property(matrix, (values) => {
      const costs = values.map((row) => Float64Array.from(row))
      const columns = values[0]?.length ?? 0
      const assigned = assignRows(costs, columns)
      assert.equal(new Set(assigned).size, costs.length)
      const total = assigned.reduce((sum, column, row) => sum + (costs[row]?.[column] ?? 0), 0)
      assert.equal(total, lowestTotal(costs, columns))
    }),
  )
})

const candidate = (subjectId: string, similarity: number) =>
  ({ subjectId, similarity }) as unknown as MatchCandidate

const subjectsOf = (faces: readonly (readonly MatchCandidate[])[]) =>
  faces.map((candidates) => candidates.map(({ subjectId }) => subjectId))

test('A clear match is not given up for two poor ones, and a match at the threshold counts', () => {
  const clear = [
    [candidate('a', 0.95), candidate('b', 0.81)],
    [candidate('a', 0.85), candidate('c', 0.5)],
  ]
  assert.deepEqual(subjectsOf(assignSubjects(0.8, clear)), [['a', 'b'], ['c']])
  const near = [
    [candidate('a', 0.95), candidate('b', 0.93)],
    [candidate('a', 0.94), candidate('b', 0.7)],
  ]
  assert.deepEqual(subjectsOf(assignSubjects(0.8, near)), [['b'], ['a']])
  const atThreshold = [[candidate('a', 0.8)], [candidate('a', 0.7999)]]
  assert.deepEqual(subjectsOf(assignSubjects(0.8, atThreshold)), [['a'], []])
})

test('A match is ambiguous below 1.5 powers of ten between the rates of the two best subjects', () => {
  const steps = [0, 0.5, 0.7, 0.9, 0.95, 1].map(rateSteps)
  assert.deepEqual(
    steps.map((value) => Math.round(value * 1e6) / 1e6),
    [0, 1, 3, 5, 6, 8.25],
  )
  const nearest = (best: number, next: number) => [{ similarity: best }, { similarity: next }]
  assert.equal(isAmbiguous(0.8, nearest(0.85, 0.7001)), true)
  assert.equal(isAmbiguous(0.8, nearest(0.85, 0.6999)), false)
  assert.equal(isAmbiguous(0.8, nearest(0.95, 0.8501)), true)
  assert.equal(isAmbiguous(0.8, nearest(0.95, 0.8499)), false)
  assert.equal(isAmbiguous(0.86, nearest(0.8599, 0.8599)), false, 'no match')
  assert.equal(isAmbiguous(0.8, [{ similarity: 1 }]), false, 'no next subject')
})
