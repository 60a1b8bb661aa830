import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Graph } from '../onnx/graph.ts'
import { convertGraphModel } from './convert-graph-model.ts'
import type { GraphModel, TopologyNode } from './topology.ts'

const constants: Readonly<Record<string, readonly number[]>> = {
  zero: [0],
  six: [6],
  perChannel: [1, 2, 3],
  flat: [-1, 12],
  'rows of three': [-1, 4, 3],
  border: [0, 0, 0, 1, 2, 0, 0, 5],
}

const imageInput: TopologyNode = {
  name: 'x',
  op: 'Placeholder',
  attr: { shape: { shape: { dim: ['-1', '2', '2', '3'].map((size) => ({ size })) } } },
}

/** Converts a graph of these nodes, a 2×2 image `x` and the constants above. */
function convert(nodes: readonly TopologyNode[], isAnySize = false): Graph {
  const namedValues = Object.entries(constants)
  const weights = namedValues.map(([name, { length }]) => ({
    name,
    shape: [length],
    dtype: 'float32',
  }))
  const bytes = Float32Array.from(namedValues.flatMap(([, values]) => values))
  const constantNodes = weights.map(({ name }) => ({ name, op: 'Const' }))
  const model: GraphModel = {
    modelTopology: { node: [...nodes, imageInput, ...constantNodes] },
    weightsManifest: [{ weights }],
  }
  const outputNode = nodes[0]?.name ?? ''
  return convertGraphModel(
    'g',
    { model, weights: new Uint8Array(bytes.buffer) },
    { outputs: { y: outputNode }, isAnySize },
  )
}

const operators = ({ nodes }: Graph): string[] => nodes.map(({ operator }) => operator)

function constantOf({ nodes, initializers }: Graph, operator: string, input: number): unknown {
  const name = nodes.find((node) => node.operator === operator)?.inputs[input]
  const constant = initializers.find((initializer) => initializer.name === name)
  return constant && { shape: constant.shape, data: [...constant.data].map(Number) }
}

test('an image input is NCHW, and an image output is in TensorFlow order', () => {
  const graph = convert([{ name: 'relu', op: 'Relu', input: ['x'] }])
  assert.deepEqual(graph.inputs, [{ name: 'x', shape: [3, 2, 2] }])
  assert.deepEqual(graph.outputs, [{ name: 'y', shape: [2, 2, 3] }])
  assert.deepEqual(operators(graph), ['Relu', 'Transpose', 'Identity'])
})

test('a constant with one value per channel is transposed to NCHW', () => {
  const graph = convert([{ name: 'sum', op: 'AddV2', input: ['x', 'perChannel'] }])
  assert.deepEqual(constantOf(graph, 'Add', 1), { shape: [1, 3, 1, 1], data: [1, 2, 3] })
})

test('With images of any size, Reshape computes the number of rows from the size', () => {
  const nodes = [{ name: 'rows', op: 'Reshape', input: ['x', 'rows of three'] }]
  const graph = convert(nodes, true)
  assert.deepEqual(graph.inputs, [{ name: 'x', shape: [3, 'height', 'width'] }])
  assert.deepEqual(graph.outputs, [{ name: 'y', shape: ['rows', 3] }])
  assert.deepEqual(constantOf(graph, 'Reshape', 1), { shape: [3], data: [0, -1, 3] })
})

test('Reshape restores the TensorFlow order first and keeps the batch dimension', () => {
  const graph = convert([{ name: 'flatten', op: 'Reshape', input: ['x', 'flat'] }])
  assert.deepEqual(operators(graph), ['Transpose', 'Reshape', 'Identity'])
  assert.deepEqual(constantOf(graph, 'Reshape', 1), { shape: [2], data: [-1, 12] })
  assert.deepEqual(graph.outputs, [{ name: 'y', shape: [12] }])
})

test('padding keeps its side and axis in NCHW', () => {
  const graph = convert([{ name: 'pad', op: 'Pad', input: ['x', 'border'] }])
  assert.deepEqual(constantOf(graph, 'Pad', 1), { shape: [8], data: [0, 0, 0, 2, 0, 5, 1, 0] })
  assert.deepEqual(graph.outputs, [{ name: 'y', shape: [3, 4, 8] }])
})

test('a ReLU6 of three nodes is fused into one Clip', () => {
  const graph = convert([
    { name: 'clipped', op: 'Maximum', input: ['bounded', 'zero'] },
    { name: 'bounded', op: 'Minimum', input: ['relu', 'six'] },
    { name: 'relu', op: 'Relu', input: ['x'] },
  ])
  assert.deepEqual(operators(graph), ['Clip', 'Transpose', 'Identity'])
  assert.deepEqual(constantOf(graph, 'Clip', 1), { shape: [], data: [0] })
  assert.deepEqual(constantOf(graph, 'Clip', 2), { shape: [], data: [6] })
})

test('an unsupported operator is rejected by name', () => {
  assert.throws(() => convert([{ name: 'odd', op: 'Einsum', input: ['x'] }]), /odd \(Einsum\)/u)
})

test('a graph that reads a missing node is rejected', () => {
  assert.throws(
    () => convert([{ name: 'relu', op: 'Relu', input: ['missing'] }]),
    /no node missing/u,
  )
})

test('an operator with the name of a property of every object is rejected', () => {
  const nodes = [{ name: 'odd', op: 'constructor', input: ['x'] }]
  assert.throws(() => convert(nodes), /odd \(constructor\)/u)
})

test('a graph whose nodes read each other is rejected', () => {
  const nodes = [
    { name: 'a', op: 'Relu', input: ['b'] },
    { name: 'b', op: 'Relu', input: ['a'] },
  ]
  assert.throws(() => convert(nodes), /^Error: the node a reads its own result$/u)
})

test('a graph of up to 2,000 nodes one after another is converted', () => {
  const chain = (length: number): TopologyNode[] =>
    Array.from({ length }, (_, index) => ({
      name: `n${index}`,
      op: 'Relu',
      input: [index === length - 1 ? 'x' : `n${index + 1}`],
    }))
  assert.equal(operators(convert(chain(1999))).length, 2001)
  assert.throws(() => convert(chain(2000)), /^Error: the node x is over 2000 nodes deep$/u)
})
