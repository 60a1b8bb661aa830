import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { buildGraph, encodeModel } from '../../src/models/convert/onnx/graph.ts'
import { bytesIn, readFields, stringsIn } from '../../src/models/convert/onnx/read-fields.ts'
import { replacePrelu } from '../../src/models/convert/onnx/replace-prelu.ts'
import { packManifest } from '../../src/models/pack-manifest.ts'
import { openInstalledModel } from '../../src/vision/session.ts'
import { readOnnxWeights } from '../support/models/onnx-weights.ts'
import { manifestOf, smallLiveness, smallSidePx } from '../support/models/small-network.ts'

/** A 1×1 convolution from one channel to two, followed by a PRelu with the given slopes. */
function network(slopeShape: readonly number[], slopes = [0.25, -2]): Uint8Array {
  const builder = buildGraph('g')
  builder.input('x', [1, 2, 2])
  const map = builder.add('Conv', ['x', builder.floats([1, 1], [2, 1, 1, 1])])
  builder.output('y', builder.add('PRelu', [map, builder.floats(slopes, slopeShape)]), [2, 2, 2])
  return encodeModel(builder.graph)
}

function operators(file: Uint8Array): string[] {
  const [graph = new Uint8Array()] = bytesIn(readFields(file), 7)
  return bytesIn(readFields(graph), 1).map((node) => stringsIn(readFields(node), 4)[0] ?? '')
}

test('a PRelu after a convolution is replaced by slope · x + (1 − slope) · relu(x)', () => {
  const file = replacePrelu(network([2, 1, 1]))
  assert.deepEqual(operators(file), ['Conv', 'Relu', 'Conv', 'Conv', 'Add', 'Identity'])
  const weights = [...readOnnxWeights(file).values()].map(({ shape, data }) => [shape, [...data]])
  assert.deepEqual(weights.slice(-2), [
    [
      [2, 1, 1, 1],
      [0.25, -2],
    ],
    [
      [2, 1, 1, 1],
      [0.75, 3],
    ],
  ])
})

test('a file is unchanged when its PRelu has other than one slope per channel', () => {
  const file = network([2, 1, 2], [1, 2, 3, 4])
  assert.equal(replacePrelu(file), file)
})

test('bytes that are not a protocol buffers message are rejected', () => {
  assert.throws(
    () => replacePrelu(Buffer.from('<!DOCTYPE html>')),
    /not a protocol buffers message/,
  )
  assert.throws(
    () => replacePrelu(network([2, 1, 1]).subarray(0, 40)),
    /not a protocol buffers message/,
  )
})

let folder: string
before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-session-'))
})
after(() => rm(folder, { recursive: true }))

test('an installed network returns the results of PRelu after the replacement', async () => {
  const slopes = [0.25, -2, 1]
  const builder = buildGraph('prelu')
  const shape = [3, smallSidePx, smallSidePx]
  builder.input('input', shape)
  const filters = builder.floats([1, 1, 1], [3, 1, 1, 1])
  const map = builder.add('Conv', ['input', filters], { group: 3, kernel_shape: [1, 1] })
  builder.output('y', builder.add('PRelu', [map, builder.floats(slopes, [3, 1, 1])]), shape)
  await writeFile(path.join(folder, 'prelu.onnx'), encodeModel(builder.graph))
  const [model] = packManifest.parse(JSON.parse(manifestOf('p', [smallLiveness('prelu')]))).models
  assert.ok(model)
  const session = await openInstalledModel({ folder, model })
  const size = smallSidePx * smallSidePx
  const values = Float32Array.from({ length: 3 * size }, (_, index) => Math.sin(index) * 9)
  const { y = new Float32Array() } = await session.run(values)
  await session.close()
  assert.equal(y.length, values.length)
  for (const [index, value] of values.entries()) {
    const expected = value > 0 ? value : value * (slopes[Math.floor(index / size)] ?? 0)
    const actual = y[index] ?? 0
    assert.ok(Math.abs(actual - expected) < 1e-5, `${index}: ${actual} instead of ${expected}`)
  }
})
