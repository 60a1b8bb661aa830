import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Graph, buildGraph, encodeModel } from './graph.ts'

const hex = (graph: Graph): string => Buffer.from(encodeModel(graph)).toString('hex')
const text = (ascii: string): string => Buffer.from(ascii).toString('hex')

test('an encoded model has the bytes that onnx.proto specifies', () => {
  const builder = buildGraph('g')
  builder.input('x', [2])
  builder.output('y', 'x', [2])
  const shape = `0a0312014e 0a020802` // N, 2
  const type = `0a0d 0801 1209 ${shape}` // a float32 tensor
  const expected = [
    `0807`, // IR version 7
    `1208 ${text('facegate')}`, // the producer
    `3a44`, // the graph
    `0a13 0a0178 120179 1a0179 2208 ${text('Identity')}`, // node: inputs, outputs, name, operator
    `120167`, // the name of the graph
    `5a14 0a0178 120f ${type}`, // the input
    `6214 0a0179 120f ${type}`, // the output
    `4204 0a00 100d`, // operator set 13 of the default domain
  ]
  assert.equal(hex(builder.graph), expected.join('').replaceAll(' ', ''))
})

test('attributes contain their type, and negative integers all 64 bits', () => {
  const builder = buildGraph('g')
  builder.add('Any', [], { axis: -1, mode: 'edge', pads: [0, 300] })
  const bytes = hex(builder.graph)
  assert.ok(bytes.includes(`2a140a04${text('axis')}18${'ff'.repeat(9)}01a00102`))
  assert.ok(bytes.includes(`2a0f0a04${text('mode')}2204${text('edge')}a00103`))
  assert.ok(bytes.includes(`2a0e0a04${text('pads')}400040ac02a00107`))
})

test('weights are raw little-endian bytes with their shape and type', () => {
  const builder = buildGraph('g')
  builder.floats([1.5, -2], [2, 1])
  builder.integers([-1])
  const bytes = hex(builder.graph)
  assert.ok(bytes.includes(`080208011001420a${text('constant_0')}4a080000c03f000000c0`))
  assert.ok(bytes.includes(`08011007420a${text('constant_1')}4a08${'ff'.repeat(8)}`))
})
