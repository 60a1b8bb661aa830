import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foldAffine } from '../../src/models/convert/onnx/fold-affine.ts'
import { type Graph, buildGraph } from '../../src/models/convert/onnx/graph.ts'
import { quantizableValues } from '../../eval/quantization/quantizable-values.ts'
import { quantize } from '../../src/models/convert/onnx/quantize.ts'
import {
  activationRounding,
  lostMeans,
  roundFilters,
} from '../../src/models/convert/onnx/round-values.ts'

/** Two convolutions with 1×1 filters: 2 channels to 2, a scale and a bias, a clip, and 2 to 1. */
function smallGraph(): Graph {
  const builder = buildGraph('g')
  builder.input('x', [2, 4, 4])
  const first = builder.add('Conv', ['x', builder.floats([1, 2, 3, -4], [2, 2, 1, 1])])
  const scaled = builder.add('Mul', [first, builder.floats([10, 0.5], [1, 2, 1, 1])])
  const moved = builder.add('Add', [scaled, builder.floats([7, 8], [1, 2, 1, 1])])
  const limits = [builder.floats([0], []), builder.floats([6], [])]
  const clipped = builder.add('Clip', [moved, ...limits])
  const weights = [builder.floats([1, -0.7], [1, 2, 1, 1]), builder.floats([0.5], [1])]
  builder.output('y', builder.add('Conv', [clipped, ...weights]), [1, 4, 4])
  return builder.graph
}

function valuesOf({ initializers }: Graph, name: string | undefined): number[] {
  const tensor = initializers.find((initializer) => initializer.name === name)
  return [...(tensor?.data ?? [])].map(Number)
}

test('a scale and a bias behind a convolution become part of it', () => {
  const graph = foldAffine(smallGraph())
  assert.deepEqual(
    graph.nodes.map(({ operator }) => operator),
    ['Conv', 'Clip', 'Conv', 'Identity'],
  )
  const [input, filters, bias] = graph.nodes[0]?.inputs ?? []
  assert.equal(input, 'x')
  assert.deepEqual(valuesOf(graph, filters), [10, 20, 1.5, -2])
  assert.deepEqual(valuesOf(graph, bias), [7, 8])
})

test('a value that another node reads too is not folded', () => {
  const builder = buildGraph('g')
  builder.input('x', [1, 4, 4])
  const first = builder.add('Conv', ['x', builder.floats([1], [1, 1, 1, 1])])
  const scaled = builder.add('Mul', [first, builder.floats([2], [1, 1, 1, 1])])
  builder.output('y', builder.add('Add', [scaled, first]), [1, 4, 4])
  assert.deepEqual(foldAffine(builder.graph).nodes, builder.graph.nodes)
})

test('the values that can be rounded are those before and behind convolutions', () => {
  assert.deepEqual(quantizableValues(smallGraph()), ['x', 'Clip_3', 'Conv_4'])
})

test('only a convolution between rounded values has integers as weights', () => {
  const graph = quantize(smallGraph(), { ranges: { Clip_3: [0, 6], Conv_4: [-3, 7] } })
  assert.deepEqual(
    graph.nodes.map(({ operator }) => operator).join(' '),
    'Conv Clip QuantizeLinear DequantizeLinear DequantizeLinear DequantizeLinear Conv ' +
      'QuantizeLinear DequantizeLinear Identity',
  )
  const types = new Set(graph.initializers.map(({ data }) => data.constructor.name))
  assert.deepEqual(types, new Set(['Float32Array', 'Uint8Array', 'Int8Array', 'Int32Array']))
  const convolution = graph.nodes.findLast(({ operator }) => operator === 'Conv')
  assert.deepEqual(convolution?.inputs[0], 'Clip_3_rounded')
  const output = graph.nodes.find(({ output: name }) => name === 'y')
  assert.deepEqual(output?.inputs, ['Conv_4_rounded'])
})

test('without ranges the values of a network stay float32', () => {
  assert.deepEqual(quantize(smallGraph(), { ranges: {} }).nodes, foldAffine(smallGraph()).nodes)
})

test('an activation is rounded to 256 steps, and zero is exact', () => {
  assert.deepEqual(activationRounding([0, 255]), { scale: 1, zeroPoint: 0 })
  assert.deepEqual(activationRounding([-128, 127]), { scale: 1, zeroPoint: 128 })
  assert.deepEqual(activationRounding([51, 255]), { scale: 1, zeroPoint: 0 })
})

test('a single weight of a channel uses all steps, two large neighbours half of them', () => {
  const { integers, scales } = roundFilters([3, 2, 1, 1], Float32Array.of(1, 0, 1, 1, -1, 1))
  assert.deepEqual([...integers], [127, 0, 64, 64, -127, 127])
  assert.deepEqual([...scales], [1 / 127, 2 / 127, 1 / 127].map(Math.fround))
})

test('two products of neighbouring channels never exceed 16 bits', () => {
  const [outputs, inputs, window] = [20, 16, 9]
  const noise = Float32Array.from({ length: outputs * inputs * window }, (_, i) =>
    Math.sin(i * i * 0.37 + i),
  )
  const { integers } = roundFilters([outputs, inputs, 3, 3], noise)
  let largest = 0
  for (let index = 0; index < integers.length; index++) {
    if (Math.floor(index / window) % inputs === inputs - 1) continue
    const sum = (integers[index] ?? 0) + (integers[index + window] ?? 0)
    largest = Math.max(largest, Math.abs(sum))
  }
  assert.ok(largest > 120 && largest * 255 <= 32_767, String(largest))
})

test('with the lost means, rounded filters have the mean output of the filters, in each group', () => {
  for (const [inputs, means] of [
    [4, Float32Array.of(1, 0.2, 5, 3)],
    [1, Float32Array.of(2, 7)],
  ] as const) {
    const shape = [2, inputs, 3, 3]
    const data = Float32Array.from({ length: 18 * inputs }, (_, i) => Math.sin(i * i * 0.37 + i))
    const rounded = roundFilters(shape, data)
    const lost = lostMeans({ shape, data }, rounded, means)
    const outputOf = (channel: number, weightAt: (index: number) => number): number =>
      Array.from({ length: 9 * inputs }, (_, index) => {
        const input = Math.floor(index / 9) + (inputs === 1 ? channel : 0)
        return weightAt(channel * 9 * inputs + index) * (means[input] ?? 0)
      }).reduce((sum, value) => sum + value, 0)
    for (const channel of [0, 1]) {
      const scale = rounded.scales[channel] ?? 0
      const expected = outputOf(channel, (index) => data[index] ?? 0)
      const actual = outputOf(channel, (index) => (rounded.integers[index] ?? 0) * scale)
      assert.notEqual(actual, expected)
      assert.ok(Math.abs(expected - actual - (lost[channel] ?? 0)) < 1e-9)
    }
  }
})

test('a measurement of the means changes the bias of the integer convolution alone', () => {
  const ranges = { Clip_3: [0, 6], Conv_4: [-3, 7] } as const
  const plain = quantize(smallGraph(), { ranges })
  const corrected = quantize(smallGraph(), { ranges, means: Float32Array.of(600, 5) })
  const changed = corrected.initializers.filter(
    ({ name }) => String(valuesOf(corrected, name)) !== String(valuesOf(plain, name)),
  )
  assert.deepEqual(
    changed.map(({ data }) => data.constructor.name),
    ['Int32Array'],
  )
})
