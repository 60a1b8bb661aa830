import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  quantiseWithKernel,
  type QuantisedRow,
  type RowToQuantise,
} from '../../../../test/support/search/quantise-row.ts'
import { codeBytes, leadAxisCount } from './row-layout.ts'

const { fround, sqrt, abs, max } = Math

/** Adds values in the order of the kernel: every fourth one together, then those of distance two. */
function sumOf(values: readonly number[]): number {
  const sums: [number, number, number, number] = [0, 0, 0, 0]
  for (const [index, value] of values.entries()) sums[(index % 4) as 0 | 1 | 2 | 3] += value
  return sums[0] + sums[2] + (sums[1] + sums[3])
}

function quantiseValues(values: readonly number[]) {
  const largest = values.reduce((most, value) => max(most, abs(value)), 0)
  const scale = max(2 ** -100, fround(largest / 127))
  const codes = values.map((value) => roundToEven(value * (1 / scale)))
  const squaredError = sumOf(
    values.map((value, index) => (value - (codes[index] ?? 0) * scale) ** 2),
  )
  return { codes, scale, squaredError, squared: sumOf(values.map((value) => value * value)) }
}

function roundToEven(value: number): number {
  const floor = Math.floor(value)
  if (value - floor === 0.5) return floor + (floor % 2 === 0 ? 0 : 1)
  return Math.round(value)
}

/** Quantises a template in float64, as `quantise.ts` and `lead.ts` describe it. */
function quantiseInFloat64({ vector, density, axes }: RowToQuantise): QuantisedRow {
  const { scale, squared, squaredError, codes } = quantiseValues([...vector])
  const margin = (squared + abs(density)) * 2 ** -20 + 1e-30
  const bias = fround(-squared - density / 2 + margin)
  const row = {
    codes: new Int8Array(codeBytes(vector.length)),
    scale,
    bias,
    slack: fround(max(sqrt(squaredError), sqrt(squared) / 256) * (1 + 2 ** -20)),
  }
  row.codes.set(codes)
  if (!axes) return row
  const lead = quantiseValues([...axes].map((axis) => vector[axis] ?? 0))
  const rest = sqrt(max(0, squared - lead.squared) + squared * 2 ** -40) * (1 + 2 ** -20)
  const leadCodes = Int8Array.from(lead.codes)
  return { ...row, lead: { codes: leadCodes, scale: lead.scale, bias, rest: fround(rest) } }
}

/** From values whose squares are denormal to the largest ones that a template may have. */
const sizes = fc.constantFrom(0, 1e-42, 1e-38, 1e-30, 1e-20, 1e-3, 1, 1, 1, 1e3, 1e14)
/** Multiples of a 254th: with the largest value 1, every other one is half a step between two codes. */
const values = fc.oneof(
  fc.float({ min: -1, max: 1, noNaN: true }),
  fc.integer({ min: -254, max: 254 }).map((half) => half / 254),
)
const rowsOf = (dimensions: number) =>
  fc.array(
    fc.record({
      items: fc.array(values, { minLength: dimensions, maxLength: dimensions }),
      size: sizes,
      density: fc.double({ min: -10, max: 10, noNaN: true }),
    }),
    { minLength: 1, maxLength: 6 },
  )
const inputs = fc.integer({ min: 1, max: 300 }).chain((dimensions) =>
  fc.record({
    rows: rowsOf(dimensions),
    axes: fc.shuffledSubarray([...Array.from({ length: dimensions }).keys()], {
      minLength: Math.min(dimensions, leadAxisCount),
      maxLength: Math.min(dimensions, leadAxisCount),
    }),
  }),
)

test('The kernel quantises any vectors to the same bits as the calculation in float64', () => {
  fc.assert(
    fc.property(inputs, ({ rows, axes }) => {
      const hasLead = axes.length === leadAxisCount
      const templates = rows.map(({ items, size, density }): RowToQuantise => ({
        vector: Float32Array.from(items, (value) => value * size),
        density,
        ...(hasLead && { axes: Uint16Array.from(axes) }),
      }))
      assert.deepEqual(quantiseWithKernel(templates), templates.map(quantiseInFloat64))
    }),
    { numRuns: 300 },
  )
})

test('Rows that fill the scratch area several times are quantised like single rows', () => {
  for (const dimensions of [1, 17, 80, 256, 1_024]) {
    const templates = Array.from({ length: 150 }, (_, row): RowToQuantise => ({
      vector: Float32Array.from({ length: dimensions }, (__, axis) => Math.sin(row * 37 + axis)),
      density: Math.cos(row),
      ...(dimensions >= leadAxisCount && {
        axes: Uint16Array.from({ length: leadAxisCount }, (__, index) => dimensions - 1 - index),
      }),
    }))
    assert.deepEqual(quantiseWithKernel(templates), templates.map(quantiseInFloat64))
  }
})
