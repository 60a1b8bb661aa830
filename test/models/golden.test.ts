import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGolden } from '../../eval/quantization/golden-outputs.ts'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { goldenInput, goldenMismatch } from '../../src/models/builtin/golden.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'

const { blazeface, emotion, face_expression: expression } = builtinPack.models

const probabilities = Float32Array.of(0.1, 0.2, 0.3, 0.1, 0.1, 0.1, 0.1)
const entry: BuiltinModel = { ...expression, golden: createGolden({ probabilities }) }

test('the golden input follows its formula, channel by channel', () => {
  const { width, height } = expression.input
  const input = goldenInput(expression)
  const pixelAt = (x: number, y: number, channel: number): number | undefined =>
    input[(channel * height + y) * width + x]
  assert.equal(input.length, 3 * height * width)
  assert.equal(pixelAt(0, 0, 0), 96)
  assert.equal(pixelAt(40, 10, 0), 96 + Math.floor((40 + 30 + 25) / 4))
  assert.equal(pixelAt(40, 10, 1), 96 + Math.floor((80 + 20 + 25) / 4))
  assert.equal(pixelAt(100, 20, 2), 96 + Math.floor((511 - (300 + 20 + 125)) / 4))
})

test('the golden input has the mean and scale of the model', () => {
  assert.equal(goldenInput(blazeface)[0], Math.fround((96 - 127.5) / 127.5))
  assert.equal(goldenInput(emotion).length, 64 * 64)
})

test('correct outputs match, and so do rounding differences of another processor', () => {
  assert.equal(goldenMismatch(entry, { probabilities }), undefined)
  const nearly = probabilities.map((value) => value * 1.00001)
  assert.equal(goldenMismatch(entry, { probabilities: nearly }), undefined)
})

test('a missing or wrong output is reported by name', () => {
  const wrong: readonly (readonly [Record<string, ArrayLike<number>>, RegExp])[] = [
    [{}, /face_expression has no output probabilities/u],
    [{ probabilities: probabilities.subarray(1) }, /has 6 values instead of 7/u],
    [{ probabilities: probabilities.toReversed() }, /probabilities differs by/u],
    [{ probabilities: probabilities.with(3, 0.101) }, /probabilities differs by/u],
    [{ probabilities: probabilities.with(3, NaN) }, /probabilities differs by NaN/u],
  ]
  for (const [outputs, message] of wrong)
    assert.match(goldenMismatch(entry, outputs) ?? '', message)
})

test('the mean reveals a change between the samples of a long output', () => {
  const logits = new Float32Array(512).fill(2)
  const long: BuiltinModel = {
    ...blazeface,
    outputs: [{ name: 'logits', shape: [512], meaning: 'of a test' }],
    golden: createGolden({ logits }),
  }
  const wrong = logits.slice().fill(3, 1, 20)
  assert.equal(goldenMismatch(long, { logits }), undefined)
  assert.match(goldenMismatch(long, { logits: wrong }) ?? '', /logits differs/u)
})
