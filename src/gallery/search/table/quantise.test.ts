import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { quantiseWithKernel } from '../../../../test/support/search/quantise-row.ts'
import { quantiseProbe } from './quantise.ts'

const values = fc.float({ min: -1, max: 1, noNaN: true })
/** Two vectors of the same length with values from denormal to very large, and a density. */
const inputArbitrary = fc.integer({ min: 1, max: 1024 }).chain((length) => {
  const vector = fc
    .tuple(
      fc.array(values, { minLength: length, maxLength: length }),
      fc.integer({ min: -42, max: 15 }),
    )
    .map(([items, power]) => Float32Array.from(items, (value) => value * 10 ** power))
  return fc.tuple(vector, vector, fc.double({ min: -10, max: 10, noNaN: true }))
})

test('The upper bound that the kernel computes is never below the true value', () => {
  fc.assert(
    fc.property(inputArbitrary, ([probe, row, density]) => {
      const probeCodes = new Int16Array(row.length)
      const [quantised] = quantiseWithKernel([{ vector: row, density }])
      assert.ok(quantised)
      const { codes: rowCodes, scale, bias, slack } = quantised
      const { gain, reach } = quantiseProbe(probe, probeCodes)
      let dot = 0
      let exact = -density / 2
      for (let index = 0; index < row.length; index++) {
        dot += rowCodes[index]! * probeCodes[index]!
        exact += 2 * probe[index]! * row[index]! - row[index]! ** 2
      }
      const round = Math.fround
      const product = round(round(round(dot) * scale) * gain)
      const bound = round(product + round(bias + round(slack * reach)))
      assert.ok(bound >= exact, `${bound} < ${exact}`)
    }),
  )
})

test('No probe can overflow the integer sums of the kernel', () => {
  fc.assert(
    fc.property(inputArbitrary, ([probe]) => {
      const codes = new Int16Array(probe.length)
      quantiseProbe(probe, codes)
      assert.ok(codes.reduce((sum, code) => sum + Math.abs(code) * 127, 0) < 2 ** 31)
    }),
  )
  const codes = new Int16Array(1024)
  quantiseProbe(new Float32Array(1024).fill(-0.3), codes)
  assert.ok(codes.reduce((sum, code) => sum + Math.abs(code) * 127, 0) < 2 ** 31)
})

test('The bound exceeds a typical score by less than 2 %', () => {
  const row = Float32Array.from({ length: 256 }, (_, index) => Math.sin(index * index) / 8)
  const [quantised] = quantiseWithKernel([{ vector: row, density: 0 }])
  assert.ok(quantised)
  const { reach } = quantiseProbe(row, new Int16Array(256))
  const squared = row.reduce((sum, value) => sum + value * value, 0)
  assert.ok(quantised.slack * reach < squared / 50, `${quantised.slack * reach} of ${squared}`)
})
